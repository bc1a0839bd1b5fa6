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
                              {"regex": "a+", "text": "aa"}, {"regex": "a+", "text": "ab"})
        self.assertEqual(code, 0)
        self.assertEqual([answer["accepts"] for answer in answers], [True, False, True, False])

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
        code, answers = check({"schema": {"properties": {"a": {"uniqueItems": True}}}, "text": "1"}, {"grammar": "root ::= x", "text": "x"},
                              {"schema": {"type": "x"}, "text": "1", "order": "any"}, {"schema": True}, "no json", '{"schema": true, "txt": ""}')
        self.assertEqual(code, 0)
        for answer, words in zip(answers, ["'uniqueItems' at '#/properties/a'", "'x' is not defined", "'type' at '#'", "text", "JSON", "txt"]):
            self.assertIn(words, answer["error"]["message"])


if __name__ == "__main__":
    unittest.main()
