#!/usr/bin/env python3
"""The README's console block, run again: each command succeeds and prints what is shown there."""
# labels: cli model
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tiny

WICK = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = tiny.default_model()


def sessions():
    """(command, what it prints) of each `$ command` in the README's console blocks."""
    text = (ROOT / "README.md").read_text()
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def matches(shown, printed):
    return re.fullmatch(".*?".join(re.escape(part) for part in shown.split("…")), printed, re.S)


class Readme(unittest.TestCase):
    def test_every_command_prints_what_the_readme_shows(self):
        self.assertGreaterEqual(len(sessions()), 8, "the README has lost its console block")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "model.gguf").symlink_to(MODEL)
            env = {**os.environ, "WICK_HOME": folder + "/store", "XDG_CONFIG_HOME": folder, "PATH": f"{WICK.parent}:{os.environ['PATH']}"}
            for command, shown in sessions():
                with self.subTest(command):
                    done = subprocess.run(command, shell=True, cwd=folder, env=env, text=True, timeout=120,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertTrue(matches(shown, done.stdout), f"shown:\n{shown}\nprinted:\n{done.stdout}")

    def test_a_wrong_word_would_be_noticed(self):
        self.assertTrue(matches("a\n…c\n", "a\nb\nc\n"))
        self.assertFalse(matches("a\n…c\n", "a\nb\nd\n"))


if __name__ == "__main__":
    unittest.main()
