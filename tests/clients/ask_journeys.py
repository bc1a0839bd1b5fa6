#!/usr/bin/env python3
"""Widgets of `wick init` in real shells inside tmux: the command lands in the line and nothing runs.

  tests/clients/ask_journeys.py build/release/wick [docs]    the second argument takes a capture of each shell's screen as text
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import asking
from asking import cmd

PROGRAM = pathlib.Path(sys.argv[1]).resolve().parent / "wick_scripted_program"
DOCS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
PROMPT = "u@host:~$ "
RC = {"bash": ("--rcfile {rc} -i", "PS1='" + PROMPT + "'\nset +o history\nset -o history\n{mode}\n{script}\n", "set -o vi", "set -o emacs"),
      "zsh": ("-i", "PS1='" + PROMPT + "'\nunsetopt PROMPT_SP\n{mode}\n{script}\n", "bindkey -v", "bindkey -e"),
      "fish": ("-i", "function fish_prompt; echo -n '" + PROMPT + "'; end\nfunction fish_greeting; end\n{mode}\n{script}\n",
               "fish_vi_key_bindings\nfunction fish_mode_prompt; end", "fish_default_key_bindings")}


class Screen:
    """A shell in tmux."""

    def __init__(self, home, shell, mode):
        self.home, self.shell = home, shell
        (home.folder / "bin").mkdir(exist_ok=True)
        link = home.folder / "bin/wick"
        link.unlink(missing_ok=True)
        link.symlink_to(PROGRAM)
        arguments, text, vi, emacs = RC[shell]
        script = home.wick("init", shell).stdout.decode()
        rc = {"bash": home.home / "bashrc", "zsh": home.home / ".zshrc", "fish": home.home / ".config/fish/config.fish"}[shell]
        rc.parent.mkdir(parents=True, exist_ok=True)
        rc.write_text(text.replace("{mode}", vi if mode == "vi" else emacs).replace("{script}", script))
        self.socket = str(home.folder / "tmux")
        environment = {**home.environment, "PATH": f"{home.folder}/bin:{os.environ['PATH']}", "TERM": "screen", "ZDOTDIR": str(home.home)}
        self.environment = environment
        command = f"exec {shell} {arguments.format(rc=rc)}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "24", "-c", str(home.work), command)
        self.until(lambda text: PROMPT.strip() in text)
        time.sleep(0.3)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], env=self.environment, capture_output=True, text=True, timeout=30).stdout

    def text(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def line(self):
        """What stands behind the last prompt."""
        return self.text().rsplit(PROMPT.strip(), 1)[-1].strip()

    def until(self, holds, seconds=20):
        end = time.monotonic() + seconds
        while not holds(self.text()):
            if time.monotonic() > end:
                raise AssertionError(f"{self.shell}: did not come:\n{self.text()}")
            time.sleep(0.05)

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.until(lambda _: self.line().endswith(text.strip()))

    def key(self, name):
        self.tmux("send-keys", name)

    def cursor(self):
        return self.tmux("display-message", "-p", "#{cursor_x}").strip()

    def clear(self):
        self.key("C-c")
        time.sleep(0.3)
        self.tmux("send-keys", "-R")
        self.key("Enter")
        self.until(lambda _: self.line() == "")

    def end(self):
        self.tmux("kill-server")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def journey(shell, mode):
    with tempfile.TemporaryDirectory() as folder:
        home = asking.Home(PROGRAM, folder)
        marker = home.work / "marker"
        home.says(cmd("touch marker"))
        screen = Screen(home, shell, mode)
        try:
            # The command lands in the line; nothing runs.
            screen.type("make a marker")
            screen.key("M-w")
            screen.until(lambda _: screen.line().endswith("touch marker"))
            time.sleep(0.3)
            check(not marker.exists(), "ran without Enter")
            if DOCS and mode == "emacs":
                (DOCS / f"ask-{shell}.txt").write_text(screen.text() + "\n")
            # The same key brings the sentence back, and the next one asks again.
            screen.key("M-w")
            screen.until(lambda _: screen.line() == "make a marker")
            screen.key("M-w")
            screen.until(lambda _: screen.line().endswith("touch marker"))
            screen.key("Enter")
            screen.until(lambda _: marker.exists())
            marker.unlink()
            # The user's own shell ran it: it is in the history, one Up away.
            screen.clear()
            screen.key("Up")
            screen.until(lambda _: "touch marker" in screen.line() or "make" in screen.line())
            screen.clear()
            # A critical command is a comment: Enter does nothing.
            (home.home / "kept").touch()
            home.says(cmd("rm -rf ~"))
            screen.type("remove all")
            screen.key("M-w")
            screen.until(lambda _: "critical: " in screen.line())
            screen.key("Enter")
            time.sleep(0.5)
            check((home.home / "kept").exists(), "a comment ran")
            screen.clear()
            # A failing model leaves line and cursor.
            home.says("no", "no")
            screen.type("make a marker")
            before = screen.cursor()
            screen.key("M-w")
            screen.until(lambda text: "no usable command" in text)
            screen.until(lambda _: screen.line().endswith("make a marker"))
            check(screen.cursor() == before, f"the cursor moved from {before} to {screen.cursor()}")
            screen.clear()
            # Ctrl-C ends the wait and keeps the sentence.
            home.says(None)
            screen.type("make a marker")
            screen.key("M-w")
            screen.until(lambda _: home.asked_file.exists())
            time.sleep(0.2)
            screen.key("C-c")
            screen.until(lambda text: "interrupted" in text)
            if shell == "fish":  # ends the function too: the line is kept, and drawn at the next key
                time.sleep(0.5)
                screen.key("C-l")
            screen.until(lambda _: screen.line().endswith("make a marker"), seconds=5)
            check(not marker.exists(), "ran")
        finally:
            screen.end()
    print(f"{shell}, {mode}: ok")


def start_cost(shell):
    """Milliseconds that the script adds to a start: the least of 15 starts with it, less the least of 15 without it."""
    with tempfile.TemporaryDirectory() as folder:
        home = asking.Home(PROGRAM, folder)
        script = home.folder / "script"
        script.write_bytes(home.wick("init", shell).stdout)
        plain = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["-N"]}[shell]

        def took(command):
            begin = time.monotonic()
            subprocess.run([shell, *plain, "-i", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=home.environment)
            return (time.monotonic() - begin) * 1000

        pairs = [(took(":"), took(f"source {script}")) for _ in range(15)]
        cost = min(b for _, b in pairs) - min(a for a, _ in pairs)
        print(f"{shell}: the script adds {cost:.1f} ms to a start")
        check(cost <= 5, "more than 5 ms")


if __name__ == "__main__":
    for shell in os.environ.get("WICK_TEST_SHELLS", "bash zsh fish").split():
        for mode in ("emacs", "vi"):
            journey(shell, mode)
        start_cost(shell)
