#!/usr/bin/env python3
"""Hold "safe" to the kernel: run each command that wick rates safe in a scratch root, and see what it changed.

    tools/build release wick && python3 tools/parity/shell_kernel.py build/release/wick COMMANDS [SETUP…]

COMMANDS has a command a line. A scratch root is made anew for every command: folders that the SETUP scripts fill (they run in it), a
home, and /usr and /etc read-only; no network, own processes, 30 s (Debian's bubblewrap). After the command, paths, modes, owners,
links, times of change and contents below the root must be as before, and no process or socket may be left. Each difference is listed
with its command. Exit 1 if there is one. At the end five commands that change something run the same way: each must be found.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# What each command leaves behind is looked at inside, before the processes of the sandbox end.
WRAP = """
cd /
timeout 30 bash -c "$WICK_COMMAND" >/dev/null 2>&1 </dev/null
for try in 1 2 3 4 5; do
  left=
  for entry in /proc/[0-9]*; do
    case ${entry#/proc/} in 1|$$|$PPID) continue ;; esac
    read -r line 2>/dev/null <"$entry/stat" && left="$left$line
"
  done
  [ -n "$left" ] || break
  sleep 0.1
done
printf %s "$left" >/report/processes
grep -hv 'local_address\\|RefCount' /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 /proc/net/unix 2>/dev/null >/report/sockets
true
"""
CHANGES = ["touch /testbed/new", "chmod 600 /root/.bashrc", "ln -s a /system/link", "sleep 100 &",
           "python3 -c 'import os,socket; s=socket.socket(); s.bind((\"\",9999)); s.listen(); os.fork() or __import__(\"time\").sleep(9)' & sleep 1"]


def box(root, report, *command, seconds=40):
    binds = [part for name in sorted(os.listdir(root)) for part in ("--bind", str(root / name), "/" + name)]
    return subprocess.run(
        ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc",
         "/etc", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
         "/lib64", "--proc", "/proc", "--dev", "/dev", "--bind", str(report), "/report", *binds, "--chdir", "/", "--setenv", "HOME", "/root",
         *command], capture_output=True, timeout=seconds + 5, check=False)


def state(root):
    out = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        out[str(path.relative_to(root))] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink, info.st_mtime_ns, info.st_ctime_ns, content)
    return out


def fill(root, setups):
    for name in ("testbed", "system", "workspace", "backup", "root", "tmp", "var"):
        (root / name).mkdir()
    (root / "root/.bashrc").write_text("PS1='$ '\n")
    (root / "var/log").mkdir()
    (root / "var/log/a.log").write_text("a line\n")
    with tempfile.TemporaryDirectory() as report:
        for setup in setups:
            box(root, pathlib.Path(report), "bash", "-c", pathlib.Path(setup).read_text())


def differences(command, root, before):
    """What one run left behind."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name)
        try:
            box(root, report, "--setenv", "WICK_COMMAND", command, "bash", "-c", WRAP)
        except subprocess.TimeoutExpired:
            return ["did not end"]
        after = state(root)
        found = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
        for kind in ("processes", "sockets"):
            found += [f"{kind}: {line}" for line in ((report / kind).read_text().splitlines() if (report / kind).exists() else [f"no report of {kind}"])]
        return found


def main():
    wick, commands, *setups = sys.argv[1:]
    rows = list(dict.fromkeys(pathlib.Path(commands).read_text().splitlines()))
    lines = "".join(json.dumps({"command": row, "cwd": "/", "home": "/root"}) + "\n" for row in rows)
    judged = subprocess.run([wick, "check", "--batch", "--json"], input=lines, capture_output=True, text=True, check=False).stdout
    safe = [row for row, line in zip(rows, judged.splitlines(), strict=True) if json.loads(line)["level"] == "safe"]
    bad = missed = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        fill(root, setups)
        before = state(root)
        for command in safe:
            found = differences(command, root, before)
            if found:
                bad += 1
                print(f"{command}\n  {found[:3]}")
                before = state(root)
        for command in CHANGES:
            if not differences(command, root, before):
                missed += 1
                print(f"not found: {command}")
            before = state(root)
    print(f"{len(rows)} commands, {len(safe)} safe, all of them run over {len(before)} files: {bad} left something behind; "
          f"{len(CHANGES) - missed} of {len(CHANGES)} changes were found")
    return bad + missed > 0


if __name__ == "__main__":
    sys.exit(main())
