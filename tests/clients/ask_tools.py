#!/usr/bin/env python3
"""Does a model know the everyday tools? `wick ask` with five sentences, in a folder with some files; nothing runs.

  ask_tools.py build/release/wick [MODEL]     MODEL: a name or a file; default qwen2.5-1.5b, which is downloaded (1.1 GB)

Prints each command. Exit status 1 if one of them does not have the tool that the sentence is about, or does not parse.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WANTED = {
    "list all files": r"^ls\b",
    "find text files": r"^find\b.*\.txt",
    "show current directory": r"^pwd\b",
    "git status": r"^git status\b",
    "find python files modified today": r"^find\b.*\.py.*(-mtime|-mmin|-newer)|^find\b.*(-mtime|-mmin|-newer).*\.py",
}


def main():
    wick, model = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "qwen2.5-1.5b"
    if os.path.exists(model):
        model = os.path.abspath(model)
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("notes.txt", "list.txt", "main.py", "photo.jpg"):
            pathlib.Path(folder, name).touch()
        subprocess.run(["git", "init", "-q", folder], check=True)
        done = subprocess.run([wick, "ask", "-m", model, "--shell", "bash", "--batch", "--json", "--no-history"], text=True, check=False,
                              input="".join(f"{sentence}\n" for sentence in WANTED), cwd=folder, capture_output=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        if [row.get("ask") for row in rows] != list(WANTED):
            sys.exit(f"wick ask --batch: {done.stdout}{done.stderr}")
        if sorted(os.listdir(folder)) != [".git", "list.txt", "main.py", "notes.txt", "photo.jpg"]:
            sys.exit("a command has run")
    for row in rows:
        command = row.get("cmd", "")
        is_right = re.search(WANTED[row["ask"]], command) is not None and not row.get("error")
        n_wrong += not is_right
        print(f"{'right' if is_right else 'wrong'}  {row['ask']:<34} {command or json.dumps(row)}", flush=True)
    print(f"{len(rows) - n_wrong} of {len(rows)}")
    return n_wrong > 0


if __name__ == "__main__":
    sys.exit(main())
