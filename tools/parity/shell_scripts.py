#!/usr/bin/env python3
"""Hold wick's shell parser to bash and dash over the scripts of this machine.

    tools/build release shell_parse && python3 tools/parity/shell_scripts.py build/release/shell_parse [FOLDER…]

Every sh and bash script of /usr/bin, /usr/sbin, /etc/init.d and /var/lib/dpkg/info (or of the folders named) is accepted exactly
when `bash -n` (sh: `dash -n`) accepts it; print → parse gives the equal tree; and `bash --pretty-print` of the original and of our
print are equal. Each difference is listed. Exit 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = ["/usr/bin", "/usr/sbin", "/etc/init.d", "/var/lib/dpkg/info"]


def dialect_of(path):
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].split()
    if words and words[0].endswith(b"/env"):
        words = words[1:]
    name = words[0].rsplit(b"/", 1)[-1] if words else b""
    return {b"sh": "posix", b"dash": "posix", b"bash": "bash"}.get(name)


def run(*command):
    return subprocess.run(command, capture_output=True, check=False, timeout=60)


def pretty(path):
    done = run("bash", "--pretty-print", path)
    if done.returncode != 0:
        return None
    return re.sub(rb"[;\s]+", b" ", done.stdout).strip()  # a newline and `;` are the same; comments leave empty lines


def main():
    driver, *folders = sys.argv[1:]
    scripts = {"posix": [], "bash": []}
    for folder in folders or FOLDERS:
        for path in sorted(pathlib.Path(folder).rglob("*") if folders else pathlib.Path(folder).glob("*")):
            if path.is_file() and not path.is_symlink() and (dialect := dialect_of(path)):
                scripts[dialect].append(str(path))
    differences = []
    accepted = pretty_equal = 0
    for dialect, paths in scripts.items():
        checker = "dash" if dialect == "posix" else "bash"
        if not paths:
            continue
        for line in run(driver, dialect, *paths).stdout.decode().splitlines():
            path, _, ours = line.partition("\t")
            theirs = run(checker, "-n", path).returncode == 0
            if theirs != (ours == "ok"):
                differences.append(f"{path}: {checker} {'accepts' if theirs else 'refuses'}, wick: {ours}")
                continue
            if not theirs:
                continue
            accepted += 1
            with tempfile.NamedTemporaryFile() as printed:
                printed.write(run(driver, "--print", dialect, path).stdout)
                printed.flush()
                if (want := pretty(path)) is not None:
                    if want == pretty(printed.name):
                        pretty_equal += 1
                    else:
                        differences.append(f"{path}: bash --pretty-print differs between the original and our print")
    print("\n".join(differences))
    print(f"{sum(map(len, scripts.values()))} scripts ({len(scripts['posix'])} sh, {len(scripts['bash'])} bash): "
          f"{accepted} accepted by both, {pretty_equal} of them with equal bash --pretty-print, {len(differences)} differences")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
