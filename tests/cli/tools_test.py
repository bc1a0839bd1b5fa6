#!/usr/bin/env python3
"""`wick chat --tools`: calls are held to the tools of a file and shown, and their results are asked of the person."""
# labels: cli
import json
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Of a city", "parameters": {
    "type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": False}}}]
CALL = r'weather\(\{"city": ?"[A-Za-z0-9\\]+"\}\)'  # letters may be escaped


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, context=2048)
        (self.home.folder / "tools.json").write_text(json.dumps(TOOLS))

    def chat(self, *more):
        return self.home.wick("chat", self.home.model, "-p", "hi", "--temp", "3", "--seed", "1", "-n", "100", *more)

    def test_a_call_is_shown_and_not_run(self):
        done = self.chat("--tools", "tools.json", "--tool-choice", "weather", "-q")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), rf"^{CALL}\n$")

    def test_calls_are_in_the_json(self):
        done = self.chat("--tools", json.dumps(TOOLS), "--tool-choice", "required", "--json")
        calls = json.loads(done.stdout)["tool_calls"]
        self.assertTrue(calls)
        for call in calls:
            self.assertEqual(call["name"], "weather")
            self.assertIn(json.loads(call["arguments"]), [{"city": "Rome"}, {"city": "Oslo"}])

    def test_what_are_no_tools_is_refused(self):
        (self.home.folder / "bad.json").write_text('{"name": "weather"}')
        for given, code, words in (("bad.json", 2, "bad.json: "), ("none.json", 4, "none.json"), ("[7]", 2, "--tools: ")):
            done = self.chat("--tools", given)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(words, done.stderr.decode())
        done = self.chat("--tools", "tools.json", "--tool-choice", "clock")
        self.assertIn("clock", done.stderr.decode())

    def test_a_person_gives_the_result(self):
        terminal = tiny.Terminal(self.home, "chat", self.home.model, "--temp", "3", "--seed", "1", "-n", "100", "--tools", "tools.json",
                                 "--tool-choice", "weather")
        terminal.until(b"> ")
        terminal.say("Is it cold?")
        terminal.until(b"result of weather> ")
        self.assertRegex(terminal.seen.decode(), CALL)
        terminal.say("4 degrees")  # the next call is required, too
        terminal.until(b"result of weather> ", times=2)
        terminal.press(b"\x04")  # without a result the question is taken back
        terminal.say("/save talk.json")
        terminal.say("/nothing")
        terminal.until(b"There is no /nothing")
        self.assertEqual(json.loads((self.home.folder / "talk.json").read_text()), {"messages": []})
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)


if __name__ == "__main__":
    unittest.main()
