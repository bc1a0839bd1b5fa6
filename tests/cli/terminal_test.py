#!/usr/bin/env python3
"""Nothing that a file, a template, a setting or a model says is obeyed by the terminal it is shown on."""
# labels: cli
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

import tiny

WICK = sys.argv.pop(1)

# A window title, a clear screen by one character, a reversal, an invisible one, a bell.
EVIL = "x\x1b]0;title\x07\x9b2J\u202ereversed\u200b\u2066\x7f"
SHOWN = "x\\x1B]0;title\\x07\\u009B2J\\u202Ereversed\\u200B\\u2066\\x7F"
OBEYED = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[0-9;]*[mK])|\xc2[\x80-\x9f]"
                    rb"|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xd8\x9c|\xef\xbb\xbf")


class Shown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, name=EVIL, template="{{ raise_exception('" + EVIL + "') }}")

    def on_terminal(self, *arguments):
        terminal = tiny.Terminal(self.home, *arguments)
        terminal.finish()
        return terminal.seen

    def harmless(self, seen, *wanted):
        self.assertIsNone(OBEYED.search(seen), seen)
        for text in wanted:
            self.assertIn(text.encode(), seen)

    def test_the_name_of_a_model_and_an_error_of_its_template(self):
        terminal = tiny.Terminal(self.home, "chat", self.home.model)
        terminal.until(b"/help for commands")
        terminal.until(b"> ")
        terminal.say("hi")
        terminal.until(b"wick: ")
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)
        greeting, _, rest = terminal.seen.partition(b"> ")
        self.harmless(greeting, SHOWN)
        error = re.search(rb"wick: [^\n]*", rest)[0].rstrip(b"\r")
        self.harmless(error, SHOWN)

    def test_keys_that_would_run_commands_of_the_line_editor(self):
        terminal = tiny.Terminal(self.home, "chat", self.home.model)
        terminal.until(b"> ")
        for keys in ("\x1bx\"", "\x1bX'", "/quit"):
            terminal.say(keys)
        self.assertEqual(terminal.finish(), 0)

    def test_a_history_that_is_none_is_neither_read_nor_replaced(self):
        store = self.home.folder / "store"
        store.mkdir()
        history, important = store / "history", self.home.folder / "important"
        important.write_text("mine\n")
        for place in (lambda: history.symlink_to(important), lambda: os.mkfifo(history), lambda: history.write_text("mine\n"),
                      lambda: history.symlink_to("/dev/zero"), lambda: None):
            place()
            terminal = tiny.Terminal(self.home, "chat", self.home.model)
            terminal.until(b"> ")
            for line in ("/help", "/quit"):
                terminal.say(line)
            self.assertEqual(terminal.finish(), 0)
            self.assertEqual(important.read_text(), "mine\n")
            if history.is_file() and history.read_text().startswith("_HiStOrY"):
                continue
            self.assertIn(b"is no history of wick's", terminal.seen)
            history.unlink()
        self.assertIn("/help", history.read_text())
        self.assertEqual(history.stat().st_mode & 0o777, 0o600)
        self.assertEqual([p.name for p in store.iterdir() if "history" in p.name], ["history"])

    def test_what_a_file_says_about_itself(self):
        self.harmless(self.on_terminal("model", "info", self.home.model), "name                " + SHOWN)
        self.harmless(self.home.wick("model", "info", self.home.model).stdout, SHOWN)
        self.harmless(self.on_terminal("chat", self.home.model, "-p", "hi"), "wick: ", SHOWN)
        self.harmless(self.on_terminal("estimate", self.home.folder / EVIL.replace("/", "")), "wick: ")

    def test_json_says_the_same_by_escapes(self):
        done = self.home.wick("model", "info", self.home.model, "--json")
        self.harmless(done.stdout)
        self.assertEqual(json.loads(done.stdout)["name"], EVIL)
        done = self.home.wick("chat", self.home.model, "-p", "hi", "--json")
        self.harmless(done.stdout)
        self.assertIn(EVIL, json.loads(done.stdout)["error"]["message"])

    def test_settings_are_shown_by_escapes_that_toml_reads_back(self):
        file = self.home.folder / "wick" / "config.toml"
        file.parent.mkdir()
        file.write_text('generation.stop = ["' + "".join(f"\\U{ord(c):08x}" for c in EVIL) + '"]\n')
        for more in ([], ["--origin"]):
            done = self.home.wick("config", "show", *more)
            self.harmless(done.stdout)
            self.assertEqual(tomllib.loads(done.stdout.decode())["generation"]["stop"], [EVIL])

    def test_tokens_are_spelled_out(self):
        tiny.write_model(self.home.model, tokens=[*tiny.letters(), "ab", EVIL, "<|im_start|>", "<|im_end|>"])
        for command in (["tokenize", "-m", self.home.model, "-p", "a" + EVIL], ["tokenize", "-m", self.home.model, "--special", "-p", EVIL]):
            seen = self.on_terminal(*command)
            self.harmless(seen)
            self.harmless(self.home.wick(*command).stdout)
        self.assertIn(f"257\t\x1b[36m'{SHOWN}'".encode(), seen)

    def test_an_answer_is_escaped_on_a_terminal_and_raw_in_a_pipe(self):
        # Token b is byte b: these two are nearly all that the model says.
        tiny.write_model(self.home.model)
        command = ["run", "-m", self.home.model, "-p", "x", "-n", "40", "--seed", "1", "--logit-bias", "27+100", "--logit-bias", "93+100"]
        raw = self.home.wick(*command).stdout
        self.assertIn(b"\x1b]", raw)
        seen = self.on_terminal(*command)
        self.harmless(seen, "\\x1B]")
        self.assertTrue(seen.split(b"\r\x1b[K")[-1].startswith(raw.rstrip(b"\n").replace(b"\x1b", b"\\x1B")), seen)

    def test_a_prompt_made_by_a_template(self):
        tiny.write_model(self.home.model, template="{% for m in messages %}" + EVIL + "\n{{ m.content }}{% endfor %}")
        messages = json.dumps([{"role": "user", "content": EVIL}])
        (self.home.folder / "m.json").write_text(messages)
        seen = self.on_terminal("template", "m.json", "-m", self.home.model)
        self.harmless(seen, SHOWN)
        self.assertEqual(seen.count(SHOWN.encode()), 2)
        self.assertEqual(self.home.wick("template", "m.json", "-m", self.home.model).stdout.decode(), f"{EVIL}\n{EVIL}")
        self.harmless(self.on_terminal("template", "m.json", "-m", self.home.model, "--tokens"))

    def test_arguments_that_are_wrong(self):
        self.harmless(self.on_terminal("chat", "--" + EVIL), "wick: ")
        self.harmless(self.on_terminal(EVIL), "wick: ")
        self.harmless(self.on_terminal("run", "-m", self.home.model, "-p", "x", "--samplers", EVIL), "knows no 'x\\x1B]0'")


if __name__ == "__main__":
    unittest.main(verbosity=0)
