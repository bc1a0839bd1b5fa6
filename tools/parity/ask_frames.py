#!/usr/bin/env python3
"""Score the frames of `wick ask` on the 300 tasks of InterCode-ALFA, and count unusable answers; shell-gpt beside it.

    tools/build release wick && pip install --no-deps -t build/alfa icalfa==0.3.6
    python3 tools/parity/ask_frames.py build/release/wick MODEL build/alfa/icalfa/assets ANSWERS [--tasks N] [--sentences FILE]
        [--shell-gpt PYTHON]

Commands run in the tasks' file systems (Debian's bubblewrap: /usr and /etc read-only, no network, no capabilities), and wick is asked
there. An answer is right
if exit status, output and tree (paths, modes, contents) are those of one of the task's two reference commands, each run in a fresh copy;
output is sorted unless the task names an order. Commands rated critical do not run and are wrong. A task is left out if no reference
command runs here (a program is missing), if both give another result when they run again, or if they print and change nothing: then a
command that does nothing would be right. --tasks takes N of them, evenly drawn. The
lines of FILE are asked in the default frame only. PYTHON is a virtual environment's that has shell-gpt. The folder ANSWERS keeps the
answers; what it has is not asked again. Exit 1 if another frame scores higher than the default, or, with WICK_TEST_STRICT=1, if a
sentence got no usable answer.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

MOUNTS = ("usr", "etc", "proc", "dev")
FRAMES = ("fence", "json", "line")  # the first is the default
MAX_TOKENS = "400"  # of an answer to shell-gpt: as many as wick ask allows
AT_ONCE = 4  # as wick ask --batch
# Tasks that name an order of the output.
ORDER = re.compile(r"\b(sort|order|revers|first|last|top|large|small|longest|oldest|newest|most|least|head|tail)", re.IGNORECASE)
SHELL_GPT = """
import json, sys
from typer.testing import CliRunner
from sgpt.app import main
import typer
app = typer.Typer(); app.command()(main)
for line in sys.stdin:
    result = CliRunner().invoke(app, ["--shell", "--no-interaction", "--no-cache", line.rstrip("\\n")])
    if result.exception:
        raise result.exception
    print(json.dumps({"ask": line.rstrip("\\n"), "cmd": result.output.strip()}), flush=True)
"""


class Bench:
    """Five file systems, and what a command does in a copy of one."""

    def __init__(self, folder, assets):
        self.folder, self.results, self.roots = folder, {}, {}
        for i in range(1, 6):
            root = self.roots[i] = folder / f"root{i}"
            for name in (*MOUNTS, "tmp", "root", "home", "var/log", "opt", "out"):
                (root / name).mkdir(parents=True)
            for name in ("bin", "sbin", "lib", "lib64"):
                (root / name).symlink_to("usr/" + name)
            script = shutil.copy(assets / f"docker/setup_nl2b_fs_{i}.sh", root)  # tasks name it, too
            self.box(root, "bash", "/" + os.path.basename(script), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    @staticmethod
    def box(root, *command, **streams):
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        binds = [part for name in ("usr", "etc") for part in ("--ro-bind", "/" + name, "/" + name)]
        return subprocess.run(
            ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--bind", str(root), "/", *binds,
             "--proc", "/proc", "--dev", "/dev", "--chdir", "/", "--clearenv", "--setenv", "PATH", path, "--setenv", "HOME", "/root",
             "--setenv", "SHELL", "/bin/bash", "--setenv", "FILES", "/testbed/hello.c /testbed/FooBar.html", *command],
            stderr=subprocess.DEVNULL, check=False, **streams).returncode

    def run(self, i, command, again=0):
        """Exit status, output and hash of the tree. 20 s, 16 MiB of output, 2 GiB of memory."""
        key = (i, command, again)
        if key not in self.results:
            copy = self.folder / "copy"
            subprocess.run(["cp", "-a", str(self.roots[i]), str(copy)], check=True)
            with tempfile.TemporaryFile() as out:
                code = self.box(copy, "prlimit", "--fsize=16777216", "--as=2147483648", "timeout", "-s", "KILL", "20", "bash", "-c", command,
                                stdin=subprocess.DEVNULL, stdout=out)
                out.seek(0)
                self.results[key] = (code, out.read(), tree(copy))
            subprocess.run(["chmod", "-R", "u+rwx", str(copy)], check=False, stderr=subprocess.DEVNULL)
            shutil.rmtree(copy)
        return self.results[key]

    def references(self, task):
        """What counts as right; reference commands that do not run here, not twice the same, or do nothing are left out."""
        found, before = [], tree(self.roots[task["fs"]])
        for gold in dict.fromkeys((task["gold"], task["gold2"])):
            one, two = shaped(self.run(task["fs"], gold), task), shaped(self.run(task["fs"], gold, 1), task)
            does_nothing = one[1] == (b"",) and one[2] == before
            if one == two and one[0] not in (126, 127, 137) and not does_nothing:
                found.append(one)
        return found


def tree(root):
    total = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        if folder == str(root):
            folders[:] = [name for name in folders if name not in MOUNTS]
        folders.sort()
        for name in sorted(folders + files):
            path = pathlib.Path(folder, name)
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            total.update(f"{path.relative_to(root)} {path.lstat().st_mode}\0".encode() + hashlib.sha256(content).digest())
    return total.hexdigest()


def shaped(result, task):
    code, out, after = result
    lines = out.rstrip(b"\n").split(b"\n")
    return code, tuple(lines if ORDER.search(task["query"]) else sorted(lines)), after


def read_tasks(assets, n):
    out = []
    for i in range(1, 6):
        for row in json.loads((assets / f"datasets/nl2bash_fs_{i}.json").read_text(encoding="utf-8")):
            out.append({"fs": i, "query": " ".join(row["query"].split()), "gold": row["gold"], "gold2": row["gold2"]})
    return [out[k * len(out) // n] for k in range(min(n, len(out)))]


def kept(path):
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["ask"]: row for row in map(json.loads, rows)}


def ask(options, bench, frame, sentences, path):
    """The answers of `wick ask --batch --json`, by sentence. Its working directory has the folders of all tasks."""
    missing = [sentence for sentence in dict.fromkeys(sentences) if sentence not in kept(path)]
    if missing:
        copy = bench.folder / "asked"
        subprocess.run(["cp", "-a", str(bench.roots[1]), str(copy)], check=True)
        for name in ("system", "workspace", "backup"):
            (copy / name).mkdir()
        with tempfile.TemporaryFile("w+") as lines, path.open("a") as out:
            lines.write("\n".join(missing) + "\n")
            lines.seek(0)
            bench.box(copy, "--ro-bind", options.wick, "/opt/wick", "--ro-bind", options.model, "/opt/model.gguf", "/opt/wick", "ask", "-m",
                      "/opt/model.gguf", "-t", options.threads, "--shell", "bash", "--frame", frame, "--batch", "--json", stdin=lines, stdout=out)
        shutil.rmtree(copy)
    return kept(path)


def is_one_command(wick, text):
    """One line that bash and wick parse."""
    if not text or "\n" in text or subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False).returncode:
        return False
    line = json.dumps({"command": text, "cwd": "/", "home": "/root"}) + "\n"
    judged = subprocess.run([wick, "check", "--batch", "--json"], input=line, capture_output=True, text=True, check=False).stdout
    return "error" not in json.loads(judged)


def ask_shell_gpt(options, sentences, path):
    """shell-gpt's answers from `wick serve` with the same model."""
    missing = [sentence for sentence in dict.fromkeys(sentences) if sentence not in kept(path)]
    port, home = "18486", path.parent / "home"
    if not missing:
        return kept(path)
    home.mkdir(exist_ok=True)
    environment = dict(os.environ, HOME=str(home), OPENAI_API_KEY="none", API_BASE_URL=f"http://127.0.0.1:{port}/v1",
                       DEFAULT_MODEL=pathlib.Path(options.model).stem, OPENAI_USE_FUNCTIONS="false", PRETTIFY_MARKDOWN="false",
                       REQUEST_TIMEOUT="600", SHELL_NAME="bash", SHELL_INTERACTION="false", CACHE_PATH=str(home / "cache"),
                       CHAT_CACHE_PATH=str(home / "chats"))
    with subprocess.Popen([options.wick, "serve", "-m", options.model, "--port", port, "--max-tokens", MAX_TOKENS, "-t", options.threads],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                if subprocess.run(["curl", "-sf", f"http://127.0.0.1:{port}/health"], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.2)
            with path.open("a") as out:
                asking = [subprocess.Popen([options.shell_gpt, "-c", SHELL_GPT], stdin=subprocess.PIPE, text=True, stdout=out, env=environment)
                          for _ in range(AT_ONCE)]
                for i, one in enumerate(asking):
                    one.stdin.write("".join(line + "\n" for line in missing[i::AT_ONCE]))
                    one.stdin.close()
                if any([one.wait() for one in asking]):
                    sys.exit("shell-gpt failed")
        finally:
            server.terminate()
    return kept(path)


def score(bench, tasks, answers):
    """How many tasks are judged, and for each frame how many answers are right."""
    judged, right = 0, dict.fromkeys(FRAMES, 0)
    for task in tasks:
        references = bench.references(task)
        if not references:
            continue
        judged += 1
        for frame in FRAMES:
            row = answers[frame][task["query"]]
            if row.get("cmd") and row["level"] != "critical":
                right[frame] += shaped(bench.run(task["fs"], row["cmd"]), task) in references
    return judged, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("wick", "model"):
        parser.add_argument(name)
    for name in ("assets", "answers"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--sentences", type=pathlib.Path)
    parser.add_argument("--shell-gpt")
    parser.add_argument("--threads", default="0")
    options = parser.parse_args()
    options.answers.mkdir(parents=True, exist_ok=True)
    tasks = read_tasks(options.assets, options.tasks)
    with tempfile.TemporaryDirectory() as name:
        bench, answers = Bench(pathlib.Path(name), options.assets), {}
        sentences = [task["query"] for task in tasks]
        for frame in FRAMES:
            answers[frame] = ask(options, bench, frame, sentences, options.answers / f"{frame}.jsonl")
        default = [answers[FRAMES[0]][task["query"]] for task in tasks]
        if options.sentences:
            more = options.sentences.read_text(encoding="utf-8").splitlines()
            rows = ask(options, bench, FRAMES[0], more, options.answers / "more.jsonl")
            default += [rows[sentence] for sentence in dict.fromkeys(more)]
        unusable = sum("error" in row for row in default)
        retried = [row["retries"] for row in default if row.get("retries")]
        print(f"{len(default)} sentences in the default frame: {unusable} without a usable answer; {len(retried)} needed retries, "
              f"at most {max(retried, default=0)}")
        before = [tree(root) for root in bench.roots.values()]
        judged, right = score(bench, tasks, answers)
        if before != [tree(root) for root in bench.roots.values()]:
            sys.exit("a command changed something outside its copy")
    for frame in FRAMES:
        rows = [answers[frame][task["query"]] for task in tasks]
        print(f"{frame}: {right[frame]} of {judged} tasks right; of {len(tasks)} answers {sum('error' in row for row in rows)} unusable, "
              f"{sum('question' in row for row in rows)} questions, {sum(row.get('level') == 'critical' for row in rows)} critical, "
              f"{sum(is_one_command(options.wick, row.get('cmd', '')) for row in rows)} parse as one command")
    if options.shell_gpt:
        rows = ask_shell_gpt(options, sentences, options.answers / "shell_gpt.jsonl")
        good = sum(is_one_command(options.wick, rows[sentence]["cmd"]) for sentence in sentences)
        print(f"shell-gpt: {good} of {len(sentences)} answers parse as one command")
    return right[FRAMES[0]] < max(right.values()) or (unusable > 0 and os.environ.get("WICK_TEST_STRICT") == "1")


if __name__ == "__main__":
    sys.exit(main())
