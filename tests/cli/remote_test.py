#!/usr/bin/env python3
"""The program over a provider as remote ones are (tests/support/scripted_provider.cc): tool calls in fragments, reasoning, an error
in mid-stream, silence. What came before an error is never dropped."""
# labels: cli
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import types
import unittest

import tiny

WICK = pathlib.Path(sys.argv.pop(1)).parent / "wick_scripted_program"
HOME = tempfile.TemporaryDirectory()
ENVIRONMENT = {**os.environ, "WICK_HOME": HOME.name, "XDG_CONFIG_HOME": HOME.name}


def wick(*args, stdin=""):
    return subprocess.run([WICK, *args], input=stdin, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)


class Remote(unittest.TestCase):
    def test_text_and_calls_go_to_stdout_and_what_was_thought_does_not(self):
        done = wick("chat", "scripted:fragments", "-p", "Rome and Oslo?")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'I look them up.\nweather({"city": "Rome"})\nweather({"city": "Oslo"})\n', ""))

    def test_json_has_reasoning_and_tool_calls(self):
        for command in (["chat", "scripted:fragments"], ["run", "-m", "scripted:fragments"]):
            done = wick(*command, "-p", "Rome and Oslo?", "--json")
            said = json.loads(done.stdout)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(said["text"], "I look them up.")
            self.assertEqual(said["reasoning"], "The user wants two cities.")
            self.assertEqual(said["stop"], "tool_calls")
            self.assertEqual(said["tool_calls"], [
                {"id": "call_a", "name": "weather", "arguments": '{"city": "Rome"}'},
                {"id": "call_b", "name": "weather", "arguments": '{"city": "Oslo"}'}])
            self.assertEqual(said["usage"]["prompt_tokens"], 12)

    def test_an_error_in_mid_stream_leaves_the_text(self):
        for command in (["chat", "scripted:broken"], ["run", "-m", "scripted:broken"]):
            done = wick(*command, "-p", "x")
            self.assertEqual((done.returncode, done.stdout), (4, "Half of an answer\n"))
            self.assertIn("wick: the connection was lost after 17 bytes", done.stderr)
            done = wick(*command, "-p", "x", "--json")
            said = json.loads(done.stdout)
            self.assertEqual((done.returncode, said["text"], said["stop"]), (4, "Half of an answer", "error"))
            self.assertEqual(said["error"]["code"], "connection_lost")

    def test_silence_ends_with_ctrl_c_and_the_text_so_far(self):
        with subprocess.Popen([WICK, "chat", "scripted:silent", "-p", "x"], stdout=subprocess.PIPE, env=ENVIRONMENT) as run:
            self.assertEqual(run.stdout.read(8), b"And then")
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.communicate(timeout=30)[0], b"\n")
            self.assertEqual(run.returncode, 130)

    def test_what_the_provider_lacks_is_said(self):
        done = wick("chat", "scripted:text", "-p", "x", "--session-file", os.path.join(HOME.name, "talk"))
        self.assertEqual(done.stdout, "Hello there.\n")
        self.assertIn("the provider 'scripted' has no session files", done.stderr)
        self.assertEqual(wick("chat", "scripted:text", "-p", "x", "--set", "date").returncode, 2)

    def test_a_talk_needs_no_list_of_models(self):
        home = types.SimpleNamespace(program=os.path.abspath(WICK), folder=HOME.name, environment=ENVIRONMENT)
        terminal = tiny.Terminal(home, "chat", "scripted:text")
        terminal.until(b"> ")
        terminal.say("x")
        terminal.until(b"Hello there.")
        terminal.until(b"> ", times=2)
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)


if __name__ == "__main__":
    unittest.main()
