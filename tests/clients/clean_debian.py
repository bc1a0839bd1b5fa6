#!/usr/bin/env python3
"""wick in a fresh Debian 12, as a user without rights, started by the lines of README.md and docs/server.md and asked by curl: over a port,
over TLS, over a Unix socket, and over sockets that systemd-socket-activate hands over. As root, with Debian's mirror in reach:

  clean_debian.py build/release/wick MODEL.gguf [FOLDER]     FOLDER: keeps the system (330 MB) for the next run

debootstrap makes the smallest system; beyond it are installed only the libraries that `ldd` names, curl, openssl and systemd (for its
systemd-socket-activate). The user has a home, no groups, and namespaces of its own: no network but a loopback interface, no other process.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

MIRROR = "http://deb.debian.org/debian"
TOOLS = ["curl", "openssl", "systemd", "iproute2"]
BODY = json.dumps({"messages": [{"role": "user", "content": "Name a river in France."}], "temperature": 0, "max_tokens": 12})
ASK = f"curl -sS --max-time 60 -H 'Content-Type: application/json' -d '{BODY}'"
# Until it answers; then the request; then the end of the server by SIGTERM, with its exit code.
WAYS = {
    "a port": ("wick serve -m model.gguf", "http://127.0.0.1:8080", ""),
    "a port, without -m (README: it serves the downloaded model)": ("wick serve", "http://127.0.0.1:8080", ""),
    "TLS": ("wick serve -m model.gguf --tls-cert cert.pem --tls-key key.pem", "https://localhost:8080", "--cacert cert.pem"),
    "a Unix socket": ("wick serve -m model.gguf --unix wick.sock", "http://localhost", "--unix-socket wick.sock"),
    "socket activation": ("systemd-socket-activate -l 127.0.0.1:8081 -l $HOME/given.sock wick serve -m model.gguf",
                          "http://127.0.0.1:8081", ""),
    "socket activation, its Unix socket": ("systemd-socket-activate -l 127.0.0.1:8081 -l $HOME/given.sock wick serve -m model.gguf",
                                           "http://localhost", "--unix-socket given.sock"),
}


def run(*words, **options):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def libraries(program):
    """Debian's packages of the libraries that the program is linked with."""
    paths = [str(pathlib.Path(path).resolve()) for path in re.findall(r"=> (\S+)", run("ldd", program))]
    either = [name for path in paths for name in (path, path.removeprefix("/usr"))]  # since /lib is a link, some are listed there
    found = subprocess.run(["dpkg-query", "-S", *either], capture_output=True, text=True, check=False).stdout
    packages = {line.split(":")[0] for line in found.splitlines()}
    assert all(any(line.endswith(f" {name}") for line in found.splitlines() for name in (path, path.removeprefix("/usr"))) for path in paths), found
    return sorted(packages)


def make_system(root, packages):
    if not (root / "etc/debian_version").exists():
        run("debootstrap", "--variant=minbase", f"--include={','.join(packages)}", "bookworm", root, MIRROR)
    root.chmod(0o755)  # a temporary folder is its owner's alone, and this one is the other user's /
    if "\nperson:" not in (root / "etc/passwd").read_text():
        run("chroot", root, "useradd", "--create-home", "--shell", "/bin/sh", "person")


def fill_home(root, program, model):
    home = root / "home/person"
    for name in ("wick", "model.gguf"):
        (home / name).unlink(missing_ok=True)
    shutil.copy(program, home / "wick")
    shutil.copy(model, home / "model.gguf")
    config = home / ".config/wick/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[local]\nmodel_path = "/home/person/model.gguf"\n')  # stands for the download: there is no network
    run("chroot", root, "chown", "-R", "person:person", "/home/person")


def script(command, url, options):
    """What the user types. A socket that is handed over is there at once: the first question starts the server."""
    return f"""set -eu
cd /home/person; export HOME=/home/person PATH=/home/person:/usr/bin:/bin
[ "$(id -u)" -ne 0 ] && [ "$(id -G)" = "$(id -g)" ]
[ -e cert.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \\
  -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null
rm -f wick.sock given.sock
{command} >log 2>&1 &
server=$!
for i in $(seq 100); do curl -s {options} {url}/ready >/dev/null && break; sleep 0.1; done
{ASK} {options} {url}/v1/chat/completions || {{ cat log >&2; exit 1; }}
kill -TERM $server
wait $server || {{ echo "the server's exit code is $?" >&2; cat log >&2; exit 1; }}
"""


def ask(root, way):
    """unshare: PID, network, mount, IPC and UTS namespaces; setpriv: another user for good."""
    inner = (f"mount -t proc proc /proc && mount -t tmpfs tmpfs /tmp && mount -t devtmpfs dev /dev && ip link set lo up && "
             f"exec setpriv --reuid=person --regid=person --clear-groups --no-new-privs --bounding-set=-all sh -c {shlex.quote(script(*way))}")
    out = run("unshare", "--pid", "--fork", "--net", "--mount", "--ipc", "--uts", "--kill-child", "chroot", root, "sh", "-c", inner, timeout=120)
    answer = json.loads(out)
    assert answer["usage"]["completion_tokens"] > 0, answer
    return answer["choices"][0]["message"]["content"]


def main(program, model, folder=None):
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(folder or temporary).resolve()
        packages = libraries(program) + TOOLS
        make_system(root, packages)
        fill_home(root, program, model)
        said = {name: ask(root, way) for name, way in WAYS.items()}
        for name, text in said.items():
            print(f"{name}: {text!r}")
        assert len(set(said.values())) == 1, "the same question has the same answer"
        print(f"Debian {(root / 'etc/debian_version').read_text().strip()}, {len(packages)} packages beyond minbase: {' '.join(packages)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
