#!/usr/bin/env python3
"""The talk of `wick chat` on a terminal: each command, questions of several lines, and what stays in the conversation."""
# labels: cli
import contextlib
import json
import signal
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
FIGURES = b" generated"  # of the line behind an answer


class Talk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name)
        self.terminal = tiny.Terminal(self.home, "chat", self.home.model, "--temp", "0", "-n", "4")
        self.terminal.until(b"> ")
        self.last = "/quit"

    def tearDown(self):
        self.terminal.say(self.last)
        self.assertEqual(self.terminal.finish(), 0)

    def say(self, *lines, told):
        """The last line is answered by `told`."""
        times = self.terminal.seen.count(told) + 1
        for line in lines:
            self.terminal.say(line)
        self.terminal.until(told, times=times)

    def saved(self):
        """Role and text of each message."""
        file = self.home.folder / "talk.json"
        file.unlink(missing_ok=True)
        self.say("/save talk.json", "/nothing", told=b"There is no /nothing; /help lists the commands.")
        return [(m["role"], m["content"]) for m in json.loads(file.read_text())["messages"]]

    def questions(self):
        return [text for role, text in self.saved() if role == "user"]

    def test_there_is_nothing_at_first(self):
        for line, told in (("/undo", b"There is nothing to undo."), ("/retry", b"There is no question to answer again."),
                           ("/stats", b"There is no answer yet."), ("/help", b"/retry            answer the last question again"),
                           ("/?", b"Ctrl-C stops an answer."), ("", b"> "), ("/none", b"There is no /none; ")):
            self.say(line, told=told)
        self.assertEqual(self.saved(), [])
        self.last = "/exit"

    def test_an_answer_is_kept_told_of_and_made_again(self):
        self.say("/system   Be brief.", "hello", told=FIGURES)
        first = self.saved()
        self.assertEqual([role for role, _ in first], ["system", "user", "assistant"])
        self.assertEqual(first[:2], [("system", "Be brief."), ("user", "hello")])
        self.say("/stats", told=FIGURES)
        self.say("/retry", told=FIGURES)
        self.assertEqual(self.saved(), first)
        self.say("/set max_tokens 2", "/retry", told=b" 2 generated")
        self.assertEqual(self.saved()[:2], first[:2])
        self.say("more", told=FIGURES)
        self.assertEqual(self.questions(), ["hello", "more"])

    def test_what_was_said_is_taken_back_forgotten_and_loaded(self):
        self.say("/system Be brief.", "one", told=FIGURES)
        self.say("two", told=FIGURES)
        whole = self.saved()
        (self.home.folder / "talk.json").rename(self.home.folder / "whole.json")
        self.say("/undo", "/stats", told=FIGURES)
        self.assertEqual(self.saved(), whole[:3])
        self.say("/reset", "/undo", told=b"There is nothing to undo.")
        self.assertEqual(self.saved(), whole[:1])
        self.say("/system", "/undo", told=b"There is nothing to undo.")
        self.assertEqual(self.saved(), [])
        self.say("/load whole.json", "/undo", "/load whole.json", "/stats", told=FIGURES)
        self.assertEqual(self.saved(), whole)

    def test_settings_are_checked(self):
        for line, told in (("/set top_k x", b"top_k is 'x', allowed are"), ("/set nope 1", b"'nope' cannot be set"),
                           ("/set seed", b"seed is '', allowed are"), ("/set", b"'' cannot be set")):
            self.say(line, told=told)

    def test_a_question_may_have_several_lines(self):
        self.say('"""one', "two", 'three"""', told=FIGURES)
        self.say("four \\", "five", told=FIGURES)
        self.say('"""', 'six"""', told=FIGURES)
        self.say('"""seven"""', told=FIGURES)
        self.assertEqual(self.questions(), ["one\ntwo\nthree", "four \nfive", "six", "seven"])

    def test_ctrl_c_forgets_the_line(self):
        self.say("/system Be brief.", "/undo", told=b"There is nothing to undo.")
        self.say("forget \\", told="… ".encode())
        times = self.terminal.seen.count(b"> ") + 1
        for _ in range(20):  # one that comes before the line editor reads is lost
            self.terminal.run.send_signal(signal.SIGINT)
            with contextlib.suppress(AssertionError):
                self.terminal.until(b"> ", seconds=1, times=times)
                break
        self.say("hello", told=FIGURES)
        self.assertEqual(self.questions(), ["hello"])

    def test_a_question_that_fails_is_taken_back(self):
        self.say("x" * 400, told=b"wick: ")
        self.assertEqual(self.saved(), [])
        self.say("hello", told=FIGURES)
        self.assertEqual(self.questions(), ["hello"])


if __name__ == "__main__":
    unittest.main()
