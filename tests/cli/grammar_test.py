#!/usr/bin/env python3
"""`wick grammar check` as a user meets it: answers, orders, registries, refusals, bad lines.

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


def check(*lines, registry=None):
    more = ["--registry", registry] if registry else []
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([WICK, "grammar", "check", "--batch", "--json", *more], input=text, capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


class Grammar(unittest.TestCase):
    def test_an_empty_constraint_is_an_error(self):  # of a variable that is not set, mostly
        for flag in ("--schema", "--grammar", "--regex", "--choice"):
            done = subprocess.run([WICK, "run", "-m", "none.gguf", flag, "", "-p", "a"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, "constraint of the answer is empty" in done.stderr), (2, True), done)

    def test_what_is_no_file_of_the_registry_is_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = pathlib.Path(folder) / "in"
            (inside / "draft").mkdir(parents=True)
            os.mkfifo(inside / "pipe")
            (inside / "zero").symlink_to("/dev/zero")
            (pathlib.Path(folder) / "out.json").write_text("true")
            (inside / "out").symlink_to("../out.json")
            (inside / "up").symlink_to("..")
            (inside / "draft/n.json").write_text("true")
            (inside / "n").symlink_to("draft/n.json")
            names = ["draft", "pipe", "zero", "out", "up/out.json", ""]
            code, answers = check(*({"schema": {"$ref": f"http://localhost:1234/{name}"}, "text": "1", "order": "any"}
                                    for name in [*names, "n"]), registry=str(inside))
        self.assertEqual((code, answers[-1]), (0, {"accepts": True}))
        self.assertEqual([answer.get("error", {}).get("id") for answer in answers[:-1]], ["schema_reference"] * len(names))

    def test_each_line_has_its_answer(self):
        integer = {"type": "integer"}
        code, answers = check({"schema": integer, "text": "1", "order": "any"}, {"schema": integer, "text": "1.5", "order": "any"},
                              {"regex": "a+", "text": "aa"}, "", {"regex": "a+", "text": "ab"})
        self.assertEqual(code, 0)
        self.assertEqual([answer.get("accepts") for answer in answers], [True, False, True, None, False])
        self.assertIn("error", answers[3])

    def test_a_grammar_in_gbnf(self):
        sums = 'root ::= term ("+" term)*\nterm ::= [0-9]{1,3} | "(" root ")"'
        code, answers = check(*({"grammar": sums, "text": text} for text in ("1+(22+3)", "1+", "", "1234")), {"grammar": "x", "text": ""})
        self.assertEqual(code, 0)
        self.assertEqual([answer.get("accepts") for answer in answers], [True, False, False, False, None])
        self.assertEqual(answers[-1]["error"]["id"], "bad_grammar")

    def test_the_declared_order_is_the_default_and_keeps_the_guards(self):
        schema = {"type": "object", "properties": {"b": True, "a": True}}
        lines = ['{"b": 1, "a": 2}', '{"a": 2, "b": 1}', '{"b":  1}', '{"b": 1e2}']
        _, declared = check(*({"schema": schema, "text": text} for text in lines))
        _, free = check(*({"schema": schema, "text": text, "order": "any"} for text in lines))
        self.assertEqual([answer["accepts"] for answer in declared], [True, False, False, False])
        self.assertEqual([answer["accepts"] for answer in free], [True, True, True, True])

    def test_a_registry_serves_remote_references_and_nothing_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = pathlib.Path(folder) / "in"
            inside.mkdir()
            (inside / "n.json").write_text('{"type": "integer"}')
            (pathlib.Path(folder) / "out.json").write_text("true")
            _, answers = check({"schema": {"$ref": "http://localhost:1234/n.json"}, "text": "1", "order": "any"},
                               {"schema": {"$ref": "http://localhost:1234/%2e%2e/out.json"}, "text": "1", "order": "any"},
                               {"schema": {"$ref": "http://localhost:1234/../out.json"}, "text": "1", "order": "any"},
                               {"schema": {"$ref": "http://localhost:1234//etc/hostname"}, "text": "1", "order": "any"},
                               registry=str(inside))
        self.assertEqual(answers[0], {"accepts": True})
        self.assertTrue(all("'$ref'" in answer["error"]["message"] for answer in answers[1:]), answers)

    def test_what_is_refused_is_named(self):
        code, answers = check({"schema": {"properties": {"a": {"multipleOf": 3}}}, "text": "1"}, {"grammar": "root ::= x", "text": "x"},
                              {"schema": {"type": "x"}, "text": "1", "order": "any"}, {"schema": True}, "no json", '{"schema": true, "txt": ""}')
        self.assertEqual(code, 0)
        for answer, words in zip(answers, ["'multipleOf' at '#/properties/a'", "'x' is not defined", "'type' at '#'", "text", "JSON", "txt"]):
            self.assertIn(words, answer["error"]["message"])


RIVER = {"type": "object", "title": "River", "properties": {"name": {"type": "string", "maxLength": 9}, "km": {"type": "integer"},
                                                            "on": {"format": "date"}, "at": {"format": "idn-hostname"}},
         "required": ["name", "km"], "additionalProperties": False}


def run(*words, text=None):
    return subprocess.run([WICK, "grammar", *words], input=text, capture_output=True, text=True, timeout=60, check=False)


class People(unittest.TestCase):
    def test_check_says_where_a_text_is_wrong(self):
        schema = ["--schema", json.dumps(RIVER)]
        done = run("check", *schema, text='{"name": "Loire",\n "km": 1006}\n')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "accepted: 30 bytes\n", ""))
        done = run("check", *schema, text='{"name": "Loire",\n "km": tru}\n')
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, 'wick: no document begins like this text up to byte 25; expected: a digit, \'-\'\n   "km": tru}\n         ^\n')
        done = run("check", *schema, text='{"name": "Loire"')
        self.assertIn("the text is cut off at byte 16; expected: ','\n  {\"name\": \"Loire\"\n                  ^\n", done.stderr)
        done = run("check", *schema, text='{"km": 1, "name": ""}')
        self.assertEqual(done.returncode, 1)
        self.assertIn("--any-order", done.stderr)
        self.assertNotIn("--any-order", run("check", *schema, text='{"km": tru').stderr)
        self.assertEqual(run("check", *schema, "--any-order", text='{"km": 1, "name": ""}').returncode, 0)

    def test_check_reads_a_file_and_every_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text"
            path.write_text("1+(22+3)\n")
            for form in (["--grammar", 'root ::= term ("+" term)*\nterm ::= [0-9]{1,3} | "(" root ")"'], ["--regex", r"[\d+()]+"],
                         ["--choice", "1,1+(22+3)"]):
                self.assertEqual(run("check", *form, path).stdout, "accepted: 8 bytes\n")
        self.assertIn("no constraint is given", run("check", text="a").stderr)

    def test_an_error_of_the_constraint_has_its_place(self):
        done = run("explain", "--regex", "a(b|c")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"at byte \d+\n(hint: .*\n)?  a\(b\|c\n {2,7}\^\n$")
        done = run("sample", "--grammar", "root ::= a\na ::= [z-a]")
        self.assertRegex(done.stderr, r"line 2, column \d+: .*\n  a ::= \[z-a\]\n +\^\n$")
        done = run("check", "--schema", '{"type": "object", }', text="1")
        self.assertRegex(done.stderr, r"wrong at byte 1[89]\n  \{\"type\": \"object\", \}\n {20,21}\^\n$")

    def test_samples_are_documents_and_a_seed_repeats_them(self):
        for form in ({"schema": RIVER}, {"regex": r"\d{4}-\d\d|[a-z]+"}, {"grammar": 'root ::= "(" root* ")"'}):
            (flag, given), = form.items()
            words = [f"--{flag}", given if isinstance(given, str) else json.dumps(given), "-n", "20", "--max-bytes", "60"]
            done = run("sample", *words, "--seed", "3")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            texts = done.stdout.split("\n")[:-1]
            self.assertEqual(len(texts), 20)
            self.assertGreater(len(set(texts)), 5)
            self.assertEqual(run("sample", *words, "--seed", "3").stdout, done.stdout)
            self.assertNotEqual(run("sample", *words, "--seed", "4").stdout, done.stdout)
            _, answers = check(*({**form, "text": text} for text in texts))
            self.assertEqual(answers, [{"accepts": True}] * 20)

    def test_samples_refer_to_the_registry_and_an_empty_language_has_none(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "other.json").write_text('{"const": 1234}')
            schema = ["--schema", '{"$ref": "http://localhost:1234/other.json"}', "-n", "3"]
            self.assertEqual(run("sample", *schema, "--registry", folder).stdout, "1234\n" * 3)
            self.assertIn("refers to 'http://localhost:1234/other.json', and this document is not known", run("sample", *schema).stderr)
        done = run("sample", "--schema", "false")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no text fulfills this constraint", done.stderr)

    def test_explain_names_keywords_and_sizes(self):
        said = run("explain", "--schema", json.dumps(RIVER)).stdout
        for line in (r"enforced +additionalProperties 1, maxLength 1, properties 1, required 1, type 3", r"formats +date 1",
                     r"open formats +idn-hostname 1", r"annotations +title 1", r"compiled to +\d+ formulas, [\d.]+ k?B",
                     r"begins with +\{\"name\":", r"shortest +\d+ bytes: \{\"name\":"):
            self.assertRegex(said, rf"(?m)^{line}")
        refused = run("explain", "--schema", '{"properties": {"a": {"multipleOf": 3}}}')
        self.assertEqual((refused.returncode, refused.stdout), (4, ""))  # nothing is "enforced"
        self.assertIn("multipleOf", refused.stderr)
        said = run("explain", "--grammar", 'root ::= term ("+" term)*\nterm ::= [0-9]{1,3} | "(" root ")"').stdout
        self.assertRegex(said, r"(?m)^grammar +GBNF, .*\ncompiled to +\d+ nonterminals, \d+ productions")
        self.assertIn("the grammar is one regex", run("explain", "--grammar", 'root ::= "a"+').stdout)
        self.assertRegex(run("explain", "--regex", "ab{3}[01]").stdout, r"begins with +abbb\nshortest +5 bytes: abbb0\n")


if __name__ == "__main__":
    unittest.main()
