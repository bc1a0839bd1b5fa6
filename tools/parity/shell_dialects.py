#!/usr/bin/env python3
"""Hold the corpora of zsh and fish to the shells themselves.

    apt-get install zsh fish && tools/build release shell_parse && python3 tools/parity/shell_dialects.py build/release/shell_parse

Each row of tests/data/shell/zsh.tsv and fish.tsv says what `zsh -n` or `fish -n` makes of a construct, and what wick does. Both are
asked again, and each row that is no longer true is listed. A typed row goes through an interactive shell (`zsh -i -n -s`), where zsh
has no comments and expands `!`. Exit 1 if a row is wrong. Rows in which both differ on purpose are counted.
"""
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).parents[2] / "tests/data/shell"


def of_shell(shell, mode, path):
    """ok or bad, by the shell itself: nothing runs."""
    text = pathlib.Path(path).read_bytes()
    if shell == "fish":
        done = subprocess.run(["fish", "--no-config", "-n", path], capture_output=True, check=False, timeout=20)
        return "bad" if done.returncode or done.stderr else "ok"
    if mode == "script":
        done = subprocess.run(["zsh", "-f", "-n", path], capture_output=True, check=False, timeout=20)
        return "bad" if done.stderr else "ok"
    done = subprocess.run(["zsh", "-f", "-i", "-n", "-s"], input=text, capture_output=True, check=False, timeout=20, env={"PATH": "/usr/bin:/bin", "TERM": "dumb"})
    seen = done.stdout + done.stderr
    return "bad" if any(word in seen for word in (b"unmatched", b"parse error", b"no such event", b"event not found")) else "ok"


def of_wick(driver, shell, mode, path):
    done = subprocess.run([driver, *(["--typed"] if mode == "typed" else []), shell, path], capture_output=True, text=True, check=False, timeout=20)
    return "ok" if done.stdout.rstrip("\n").endswith("\tok") else "bad"


def main():
    driver = sys.argv[1]
    wrong = 0
    for shell in ("zsh", "fish"):
        rows = [line.split("\t") for line in (DATA / f"{shell}.tsv").read_text().splitlines() if line and line[0] != "#"]
        differ = 0
        for name, theirs, ours, _, mode, command in rows:
            with tempfile.NamedTemporaryFile("w", suffix="." + shell) as file:
                file.write(command.replace("⏎", "\n") + "\n")
                file.flush()
                seen = of_shell(shell, mode, file.name), of_wick(driver, shell, mode, file.name)
            differ += theirs != ours
            if seen != (theirs, ours):
                wrong += 1
                print(f"{name} {command}: {shell} and wick say {seen}, the row says {(theirs, ours)}")
        print(f"{shell}: {len(rows)} rows, {differ} in which wick differs from {shell} on purpose")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
