#!/usr/bin/env python3
"""`wick ask` and the widgets of `wick init` in real shells inside tmux: nothing runs that was not confirmed.

  tests/clients/ask_journeys.py build/release/wick [docs]    the second argument is a folder for screens of each shell

With WICK_TEST_STRICT=1: fails if Ctrl-C takes more than 100 ms, from the key press until the shell's prompt is on the screen.
"""
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import asking
from asking import cmd
from screens import PROMPT, Screen, check, svg

PROGRAM = pathlib.Path(sys.argv[1]).resolve().parent / "wick_scripted_program"
DOCS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
IS_STRICT = os.environ.get("WICK_TEST_STRICT") == "1"
MENU = "[q]uit > "
SECONDS = 0.1  # of Ctrl-C


class Journey:
    """One shell in one editing mode. A run that nobody confirmed would create `marker`."""

    def __init__(self, shell, mode, folder):
        self.mode = mode
        self.home = asking.Home(PROGRAM, folder)
        self.home.environment.pop("SHELL")  # the parent process tells the shell
        self.marker = self.home.work / "marker"
        self.screen = Screen(self.home, shell, mode)
        self.took = {}

    def propose(self, *answers, text="make a marker", flags=""):
        self.home.says(*answers)
        self.screen.say(f"wick ask {flags}{text}")

    def at_menu(self, command, level="moderate"):
        self.screen.until(lambda text: f"{command}\nrisk: {level}" in text and text.endswith(MENU.strip()))
        self.nothing_ran()

    def nothing_ran(self):
        check(not self.marker.exists(), f"{self.screen.shell}: ran without confirmation:\n{self.screen.text()}")

    def ended(self, status):
        seen = self.screen.status()
        check(seen == status, f"{self.screen.shell}: exit status {seen}, not {status}")

    def interrupt(self, name, line=""):
        """Ctrl-C until wick is gone and the shell's prompt with `line` is on the screen. The clock has tmux in it, so it is an upper bound."""
        begin = time.monotonic()
        self.screen.key("C-c")
        self.screen.ends("\n" + PROMPT + line, every=0)
        while self.home.is_running():
            check(time.monotonic() < begin + 20, "wick still runs")
        self.took[name] = time.monotonic() - begin
        self.nothing_ran()

    def start_to_wait(self):
        self.screen.until(lambda _: self.home.asked_file.exists(), every=0.01)
        time.sleep(0.2)


def menu(j):
    """wick ask at the shell's prompt: propose, refuse, edit, revise, type a word, trash, restore, run."""
    screen, home = j.screen, j.home
    for answer in ("", "q", "n"):
        j.propose(cmd("touch marker"))
        j.at_menu("touch marker")
        if DOCS and j.mode == "emacs" and screen.shell == "bash" and not answer:
            keep_screen("ask-menu", screen.text().strip().replace(str(home.work), "/home/u"))
        screen.say(answer)
        j.ended(1)
        j.nothing_ran()
    j.propose(cmd("touch marker"))
    j.at_menu("touch marker")
    screen.say("e")
    screen.ends("edit > touch marker")
    screen.type("2; rm -rf /")
    screen.key("Enter")
    j.at_menu("touch marker2; rm -rf /", "critical")
    screen.say("r")
    screen.until(lambda text: "This does not run." in text)
    screen.say("")
    j.ended(1)
    check(not (home.work / "marker2").exists(), "an edited command ran")
    j.propose(cmd("touch marker"))
    j.at_menu("touch marker")
    screen.say("e")
    screen.ends("edit > touch marker")
    screen.type("2")
    screen.key("Enter")
    j.at_menu("touch marker2")
    screen.say("r")
    j.ended(0)
    check((home.work / "marker2").exists(), "the edited command did not run")
    j.propose(cmd("touch marker"), cmd("touch other; sh -c 'exit 7'"))
    j.at_menu("touch marker")
    screen.say("v another name")
    j.at_menu("touch other; sh -c 'exit 7'")
    check(home.asked()[-1][-1]["content"] == "another name", "the change was not asked for")
    check(not (home.work / "other").exists(), "a revised command ran")
    screen.say("y")
    j.ended(7)
    check((home.work / "other").exists(), "the revised command did not run")
    j.propose(cmd("rm -rf *"))
    j.at_menu("rm -rf *", "high")
    screen.say("r")
    screen.until(lambda text: "This needs the word." in text)
    screen.say("")
    j.ended(1)
    check((home.work / "other").exists(), "ran without the word")
    (home.work / "a.tmp").write_text("kept")
    j.propose(cmd("rm *.tmp"), text="remove temporary files")
    j.at_menu("rm *.tmp")
    screen.say("t")
    j.ended(0)
    check(not (home.work / "a.tmp").exists(), "not in the trash")
    screen.say("wick history --undo" + (" | source" if screen.shell == "fish" else " >undo; . ./undo; rm undo"))
    j.ended(0)
    check((home.work / "a.tmp").read_text() == "kept", "not restored")
    j.propose(cmd("touch marker"), flags="-x ")
    screen.ends("Run this command? [y/N] ")
    screen.say("")
    j.ended(1)
    j.nothing_ran()
    j.propose(cmd("touch marker"), flags="-x ")
    screen.ends("Run this command? [y/N] ")
    j.nothing_ran()
    screen.say("y")
    j.ended(0)
    j.marker.unlink()


def interrupts(j):
    """Ctrl-C at the menu, at its editors, while the model generates and while it loads: 130, and nothing ran."""
    screen, home = j.screen, j.home
    for name, key in (("at the menu", ""), ("while editing", "e"), ("while revising", "v")):
        j.propose(cmd("touch marker"))
        j.at_menu("touch marker")
        if key:
            screen.say(key)
            screen.ends({"e": "edit > touch marker", "v": "change > "}[key])
        j.interrupt(name)
        j.ended(130)
    j.propose(None)
    j.start_to_wait()
    j.interrupt("while generating")
    j.ended(130)
    home.loads()
    screen.say("wick ask make a marker")
    j.start_to_wait()
    j.interrupt("while loading")
    j.ended(130)
    j.propose(cmd("touch marker"))
    j.at_menu("touch marker")
    screen.key("C-d")
    j.ended(1)
    j.nothing_ran()


def keep_screen(name, text):
    (DOCS / f"{name}.txt").write_text(text + "\n")
    (DOCS / f"{name}.svg").write_text(svg(text))


def widget(j):
    """Alt-w: the command lands in the line; nothing runs before Enter."""
    screen, home = j.screen, j.home
    home.says(cmd("touch marker"))
    screen.type("make a marker")
    typed = screen.text()
    screen.key("M-w")
    screen.until(lambda _: screen.line().endswith("touch marker"))
    time.sleep(0.3)
    j.nothing_ran()
    if DOCS and j.mode == "emacs":
        keep_screen(f"ask-{screen.shell}", typed.rstrip() + "\n── Alt-w ──\n" + screen.text().strip())
    # The same key restores the sentence, and the next one asks again.
    screen.key("M-w")
    screen.until(lambda _: screen.line() == "make a marker")
    screen.key("M-w")
    screen.until(lambda _: screen.line().endswith("touch marker"))
    j.nothing_ran()
    screen.key("Enter")
    screen.until(lambda _: j.marker.exists())
    j.marker.unlink()
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
    # Without a usable answer, line and cursor stay, also in the middle.
    for n_left, answers, error in ((0, ("no", "no"), "hint: say it in other words"), (3, ("no", "no"), "hint: say it in other words"),
                                   (3, ('{"ask": "which?"}',), "needs an answer")):
        home.says(*answers)
        screen.type("make a marker")
        for _ in range(n_left):
            screen.key("Left")
        time.sleep(0.2)
        before = screen.cursor()
        screen.key("M-w")
        screen.until(lambda text: error in text)
        screen.until(lambda _: screen.line().endswith("make a marker") and screen.cursor() == before)
        screen.clear()
    # Ctrl-C keeps the sentence.
    for name in ("in the widget", "in the widget, loading"):
        if name.endswith("loading"):
            home.loads()
        else:
            home.says(None)
        screen.type("make a marker")
        screen.key("M-w")
        j.start_to_wait()
        j.interrupt(name, line="make a marker")
        screen.clear()


def journey(shell, mode):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a shell that ends writes its history
        j = Journey(shell, mode, folder)
        try:
            for part in (widget, menu, interrupts):
                part(j)
        finally:
            j.screen.end()
    print(f"{shell}, {mode}: ok; Ctrl-C in ms: " + ", ".join(f"{name} {1000 * took:.0f}" for name, took in j.took.items()))
    check(not IS_STRICT or max(j.took.values()) <= SECONDS, "Ctrl-C took more than 100 ms")


if __name__ == "__main__":
    for shell in os.environ.get("WICK_TEST_SHELLS", "bash zsh fish").split():
        for mode in ("emacs", "vi"):
            journey(shell, mode)
