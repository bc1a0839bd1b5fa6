#!/usr/bin/env python3
"""`wick check` and `wick explain` as a user meets them: exit codes, JSON, batches, bad lines.

labels: cli
"""
# labels: cli
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WICK = str(pathlib.Path(sys.argv.pop(1)).resolve())
DATA = pathlib.Path(__file__).parents[1] / "data/shell"


def wick(*args, stdin=""):
    return subprocess.run([WICK, *args], input=stdin, capture_output=True, text=True, timeout=60, check=False)


class Check(unittest.TestCase):
    def test_the_exit_code_is_the_level(self):
        for command, code in [("cd / && rm -rf *", 12), ("r''m -rf /", 12), ('grep -rn "rm -rf /" docs/', 0), ('sort "$F"', 11),
                              ("frobnicate --all", 11), ("ls # rm -rf /", 0), ("rm notes.txt", 10), ("ls (", 11)]:
            with self.subTest(command=command):
                self.assertEqual(wick("check", command).returncode, code)

    def test_brackets_are_part_of_the_command(self):
        for command, code in [("[ls,#]; rm -rf / ;a[1]", 12), ("[ -f x ]", 0), ("jobs -x rm x", 11)]:
            with self.subTest(command=command):
                self.assertEqual(wick("check", command).returncode, code)

    def test_a_long_line_of_wrappers_is_too_complex(self):
        for wrapper in ("xargs ", "env ", "sudo "):
            done = wick("check", "-", stdin=wrapper * 10000 + "ls")
            self.assertEqual(done.returncode, 11, wrapper)
            self.assertIn("too complex", done.stdout)

    def test_what_looks_like_a_space_is_shown_escaped(self):
        for code in [0xA0, 0x1680, 0x2003, 0x200B, 0x202E, 0x202F, 0x205F, 0x2066, 0x2800, 0x3000, 0xFEFF]:
            for command in (f'rm "a{chr(code)}b"', f"ls{chr(code)}-la", f"rm -rf {chr(code)} x"):
                for args in (("check", command), ("explain", command), ("check", "--json", command)):
                    with self.subTest(args=args):
                        shown = wick(*args).stdout
                        self.assertNotIn(chr(code), shown)
                        if "--json" not in args:
                            self.assertIn(f"\\u{code:04X}", shown)

    def test_marks_the_bytes_of_each_effect(self):
        lines = wick("check", "ls; rm -rf /").stdout.splitlines()
        self.assertEqual(lines[0], "critical  deletes everything below /")
        self.assertEqual(lines[1], "  ls; rm -rf /")
        self.assertEqual(lines[2], "             ^  critical: deletes everything below /")

    def test_of_several_lines_those_with_effects_are_printed_with_their_marks(self):
        done = wick("check", "-", stdin="ls\nrm -rf /\n\trm ä; rm b\necho\n")
        self.assertEqual(done.stdout.splitlines(), [
            "critical  deletes everything below /",
            "  rm -rf /", "         ^  critical: deletes everything below /",
            r"  \x09rm ä; rm b", "         ^  moderate: deletes ä", "               ^  moderate: deletes b",
            "  safer: list it first: replace the deletion by `ls -d`, or move it to the trash"])
        self.assertEqual(wick("check", "-", stdin="rm -rf /\n").stdout.splitlines()[1:2], ["  rm -rf /"])

    def test_a_word_that_may_be_an_option_is_no_option(self):
        self.assertIn("rm: a word that is not known may be an option\n", wick("check", "rm $x").stdout)
        self.assertIn("ls: the option --frob is not known\n", wick("check", "ls --frob").stdout)

    def test_effects_of_a_long_line_have_numbers_instead_of_marks(self):
        lines = wick("check", "-", stdin="f(){ ls; };" * 5000 + "rm x").stdout.splitlines()
        self.assertEqual(lines[0], "moderate  defines the function f")
        self.assertEqual(lines[2], "  bytes 0 to 10  moderate: defines the function f")
        self.assertLess(max(len(line) for line in lines[2:]), 200)

    def test_reads_standard_input_and_judges_its_bytes(self):
        self.assertEqual(wick("check", "-", stdin="cat <<E\nrm -rf /\nE\n").returncode, 0)
        self.assertEqual(wick("check", "-", stdin="rm -rf /\n").returncode, 12)

    def test_a_batch_gives_the_labelled_levels_in_order(self):
        rows = [line.split("\t") for line in (DATA / "issue.tsv").read_text().splitlines() if not line.startswith("#")]
        lines = [json.dumps({"command": row[3].replace("⏎", "\n"), "shell": row[2], "cwd": "/home/u/p", "home": "/home/u"})
                 for row in rows]
        done = wick("check", "--batch", "--json", stdin="\n".join(lines) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["level"] for a in answers], [row[1] for row in rows])
        for answer in answers:
            self.assertLessEqual({"level", "effects", "suggestion"}, set(answer))
            for effect in answer["effects"]:
                self.assertEqual(set(effect), {"kind", "scope", "target", "span", "why"})

    def test_a_bad_line_gets_its_line_and_exit_2(self):
        done = wick("check", "--batch", "--json", stdin='{"command":"ls"}\nnot json\n{"command":1}\n\n{"command":"ls","shell":"x"}\n')
        self.assertEqual(done.returncode, 2)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["level"] for a in answers], ["safe", "high", "high", "high", "high"])
        self.assertEqual(["error" in a for a in answers], [False, True, True, True, True])

    def test_a_key_that_comes_twice_is_an_error_of_its_line(self):
        """Another reader may take the first of the two."""
        twice = ['{"command":"rm -rf /","command":"ls"}', '{"command":"ls","command":"ls"}', '{"command":"ls","\\u0063ommand":"ls"}',
                 '{"command":"ls","cwd":"/","cwd":"/home"}']
        done = wick("check", "--batch", "--json", stdin="\n".join([*twice, '{"command":"ls"}', ""]))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, [a["level"] for a in answers]), (2, ["high"] * 4 + ["safe"]))
        for answer in answers[:4]:
            self.assertRegex(answer["error"]["message"], 'JSON has the key "c(omman|w)d" twice in one object')

    def test_a_line_that_is_too_long_gets_its_line_and_those_behind_it_theirs(self):
        long = '{"command":"' + "x" * (1 << 20) + '"}'
        done = wick("check", "--batch", "--json", stdin="\n".join(['{"command":"ls"}', long, '{"command":"ls"}']))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, [a["level"] for a in answers]), (2, ["safe", "high", "safe"]))
        self.assertIn("the line has more than 1.0 MB", answers[1]["error"]["message"])

    def test_input_that_cannot_be_read_or_never_ends_is_no_success(self):
        for args in (["check", "--batch", "--json"], ["grammar", "check", "--batch", "--json"]):
            folder = os.open("/", os.O_RDONLY)
            done = subprocess.run([WICK, *args], stdin=folder, capture_output=True, text=True, timeout=60, check=False)
            os.close(folder)
            self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["message"]),
                             (4, "standard input: is a folder, which cannot be read"))
        with open("/dev/zero") as endless:
            done = subprocess.run([WICK, "check", "-"], stdin=endless, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard input has more than 1.0 MB", done.stderr)

    def test_a_line_without_an_end_takes_no_more_memory_than_the_limit(self):
        for args in (["check", "--batch", "--json"], ["grammar", "check", "--batch", "--json"]):
            feed = subprocess.Popen(["head", "-c", "1000000000", "/dev/zero"], stdout=subprocess.PIPE)
            with feed, tempfile.TemporaryFile("w+") as out:
                program = subprocess.Popen([WICK, *args], stdin=feed.stdout, stdout=out)
                _, status, used = os.wait4(program.pid, 0)
                program.returncode = os.waitstatus_to_exitcode(status)
                out.seek(0)
                answers = out.read()
            self.assertLess(used.ru_maxrss, 300_000, f"{args}, in kB")
            self.assertEqual(len(answers.splitlines()), 1, answers)
            self.assertIn("which is the limit", answers)

    def test_what_does_not_parse_is_high_with_line_and_column(self):
        answer = json.loads(wick("check", "--json", "ls\nls a (").stdout)
        self.assertEqual((answer["level"], answer["error"]["line"], answer["error"]["column"]), ("high", 2, 6))
        self.assertIn("cannot analyze", answer["effects"][0]["why"])

    def test_explain_lists_effects_and_exits_0(self):
        done = wick("explain", "cat a | sort > b")
        self.assertEqual(done.returncode, 0)
        self.assertIn("overwrites b", done.stdout)
        self.assertIn("reads a", done.stdout)

    def test_control_characters_never_reach_the_terminal(self):
        done = wick("check", "ls '\x1b[2J' \x1b]0;x\x07")
        self.assertEqual(done.returncode, 11)
        self.assertNotIn("\x1b", done.stdout)


if __name__ == "__main__":
    unittest.main()
