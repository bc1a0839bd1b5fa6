#!/usr/bin/env python3
"""Hold "safe" to the kernel: run each command that wick rates safe in a scratch root, and see what it changed.

    tools/build release wick && python3 tools/parity/shell_kernel.py build/release/wick COMMANDS [--seconds 30] [--jobs 1] [SETUP…]

COMMANDS has a command a line; it is judged and runs in /testbed. A scratch root has folders that the SETUP scripts fill (they run in
it), files of common names in /testbed, a home, and /usr and /etc read-only; no network, own processes, so many seconds (Debian's
bubblewrap). After each command, paths, modes, owners, links, times of change and contents below the root must be as before, and no
process or socket may be left. Each difference is listed with its command. Exit 1 if there is one. At the end six commands that change
something run the same way: each must be found. --jobs: so many roots at a time.
"""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile

# What each command leaves behind is looked at inside, before the processes of the sandbox end.
WRAP = """
timeout "$WICK_SECONDS" bash -c "$WICK_COMMAND" >/dev/null 2>&1 </dev/null
echo $? >/report/status
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
NAMES = ("file", "file.txt", "file1", "file2", "file1.txt", "file2.txt", "foo", "bar", "foo.txt", "a.txt", "b.txt", "input.txt", "data.txt",
         "test.txt", "input", "data", "infile", "filename", "myfile", "log", "foo.c", "a.sh", "a.html", "a.jpg", "a b.mp3", "dir/file.txt",
         "folder/a.php", "folder/main.c", "test/a.py", "dir1/x.log", "dir2/x.log")
CHANGES = ["touch /testbed/new", "touch new", "chmod 600 /root/.bashrc", "ln -s a /system/link", "sleep 100 &",
           "python3 -c 'import os,socket; s=socket.socket(); s.bind((\"\",9999)); s.listen(); os.fork() or __import__(\"time\").sleep(9)' & sleep 1"]


def box(root, report, *command, seconds=40):
    binds = [part for name in sorted(os.listdir(root)) for part in ("--bind", str(root / name), "/" + name)]
    return subprocess.run(
        ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc",
         "/etc", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
         "/lib64", "--proc", "/proc", "--dev", "/dev", "--bind", str(report), "/report", *binds, "--chdir", "/testbed", "--setenv", "HOME", "/root",
         *command], capture_output=True, timeout=seconds + 5, check=False)


def state(root):
    out = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        times = (info.st_mtime_ns, info.st_ctime_ns) if path != root / "tmp" else ()  # tac keeps its input in a file there while it runs
        out[str(path.relative_to(root))] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink, times, content)
    return out


def fill(root, setups):
    for name in ("testbed", "system", "workspace", "backup", "root", "tmp", "var"):
        (root / name).mkdir()
    (root / "root/.bashrc").write_text("PS1='$ '\n")
    (root / "var/log").mkdir()
    (root / "var/log/a.log").write_text("a line\n")
    with tempfile.TemporaryDirectory() as report:
        for setup in setups:
            box(root, pathlib.Path(report), "bash", "-c", "cd /\n" + pathlib.Path(setup).read_text())
    for name in NAMES:
        path = root / "testbed" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"1 foo {name}\n2 bar a,b:c\n")


def differences(command, root, before, seconds):
    """What one run left behind, and whether it was cut off."""
    with tempfile.TemporaryDirectory() as name:
        report = pathlib.Path(name)
        try:
            box(root, report, "--setenv", "WICK_COMMAND", command, "--setenv", "WICK_SECONDS", str(seconds), "bash", "-c", WRAP,
                seconds=seconds + 10)
        except subprocess.TimeoutExpired:
            return ["did not end"], True
        after = state(root)
        found = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
        for kind in ("processes", "sockets"):
            found += [f"{kind}: {line}" for line in ((report / kind).read_text().splitlines() if (report / kind).exists() else [f"no report of {kind}"])]
        return found, (report / "status").exists() and (report / "status").read_text().strip() == "124"


def run_all(commands, setups, seconds, jobs):
    """(command, what it left behind, whether it was cut off) for each command, and the number of files in a root."""
    with contextlib.ExitStack() as stack:
        roots = queue.SimpleQueue()
        for _ in range(jobs):
            root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            fill(root, setups)
            roots.put((root, state(root)))
        n_files = len(state(root))

        def one(command):
            root, before = roots.get()
            try:
                found, is_cut = differences(command, root, before, seconds)
            finally:
                roots.put((root, state(root)))
            return command, found, is_cut

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, commands)), n_files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("commands", type=pathlib.Path)
    parser.add_argument("setups", nargs="*")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    rows = list(dict.fromkeys(args.commands.read_text().splitlines()))
    lines = "".join(json.dumps({"command": row, "cwd": "/testbed", "home": "/root"}) + "\n" for row in rows)
    judged = subprocess.run([args.wick, "check", "--batch", "--json"], input=lines, capture_output=True, text=True, check=False).stdout
    safe = [row for row, line in zip(rows, judged.splitlines(), strict=True) if json.loads(line)["level"] == "safe"]
    runs, n_files = run_all(safe, args.setups, args.seconds, args.jobs)
    bad = [(command, found) for command, found, _ in runs if found]
    for command, found in bad:
        print(f"{command}\n  {found[:3]}")
    missed = [command for command, found, _ in run_all(CHANGES, args.setups, args.seconds, 1)[0] if not found]
    for command in missed:
        print(f"not found: {command}")
    print(f"{len(rows)} commands, {len(safe)} safe, all of them run over {n_files} files, {sum(cut for *_, cut in runs)} of them cut off "
          f"after {args.seconds} s: {len(bad)} left something behind; {len(CHANGES) - len(missed)} of {len(CHANGES)} changes were found")
    return bool(bad or missed)


if __name__ == "__main__":
    sys.exit(main())
