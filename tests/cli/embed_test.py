#!/usr/bin/env python3
"""`wick embed` as a user meets it, over the tiny encoders of tests/data: texts from arguments, files and standard input, forms of
output, pooling, and what is refused.

labels: cli
"""
# labels: cli
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

WICK = str(pathlib.Path(sys.argv.pop(1)).resolve())
MODEL = str(pathlib.Path(__file__).resolve().parents[1] / "data/model/encoders/bert")


class Embed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def wick(self, *args, stdin="", model=MODEL):
        return subprocess.run([WICK, "embed", "-m", model, *args], input=stdin, capture_output=True, text=True, timeout=60,
                              cwd=self.folder.name, check=False)

    def vectors(self, *args, **more):
        done = self.wick(*args, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual([row["index"] for row in answer["data"]], list(range(len(answer["data"]))))
        return [row["embedding"] for row in answer["data"]], answer["usage"]["prompt_tokens"]

    def test_texts_of_arguments_files_and_standard_input_are_the_same(self):
        wanted, tokens = self.vectors("-p", "w5 w6", "-p", "w7")
        self.assertEqual(tokens, 4 + 3)
        self.assertNotEqual(wanted[0], wanted[1])
        self.assertEqual(self.vectors("w5 w6")[0], wanted[:1])
        for text in ("w5 w6\nw7\n", "w5 w6\r\nw7"):
            self.assertEqual(self.vectors(stdin=text)[0], wanted)
        (pathlib.Path(self.folder.name) / "texts").write_text("w5 w6\nw7")
        self.assertEqual(self.vectors("-f", "texts")[0], wanted)
        self.assertEqual(self.vectors("--null", stdin="w5 w6\0w7\0")[0], wanted)
        self.assertEqual(self.vectors("--null", stdin="w5\nw6\0w7\0")[0], wanted, "a line's end is a space here")

    def test_lines_json_and_npy_have_the_same_numbers(self):
        wanted, _ = self.vectors("-p", "w5", "-p", "w6 w7")
        lines = self.wick("-p", "w5", "-p", "w6 w7").stdout.splitlines()
        self.assertEqual([[float(x) for x in line.split()] for line in lines], wanted)
        done = self.wick("-p", "w5", "-p", "w6 w7", "-o", "out.npy")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("[2, 32] float32", done.stderr)
        data = (pathlib.Path(self.folder.name) / "out.npy").read_bytes()
        self.assertIn(b"'shape': (2, 32)", data[:128])
        floats = struct.unpack("<64f", data[-256:])
        self.assertEqual([float(f"{x:.6g}") for x in floats], [float(f"{x:.6g}") for row in wanted for x in row])

    def test_vectors_have_length_one_unless_asked(self):
        for options, is_one in (([], True), (["--no-normalize"], False)):
            (vector,), _ = self.vectors("w5 w6", *options)
            self.assertEqual(abs(math.hypot(*vector) - 1) < 1e-5, is_one, options)

    def test_pooling_is_the_folders_or_what_is_asked(self):
        own, first, cls, last, mean = (self.vectors("w5 w6 w7", *options)[0] for options in (
            [], ["--pooling", "first"], ["--pooling", "cls"], ["--pooling", "last"], ["--pooling", "mean"]))
        self.assertEqual(own, first)
        self.assertEqual(own, cls)
        self.assertNotEqual(own, last)
        self.assertNotEqual(own, mean)
        self.assertNotEqual(last, mean)

    def test_similarity_is_the_cosine_of_each_pair(self):
        rows = [[float(x) for x in line.split()] for line in self.wick("-p", "w5", "-p", "w6", "-p", "w5", "--similarity").stdout.splitlines()]
        (a, b, _), _ = self.vectors("-p", "w5", "-p", "w6", "-p", "w5")
        cosine = sum(x * y for x, y in zip(a, b))
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                self.assertAlmostEqual(value, 1 if i % 2 == j % 2 else cosine, delta=6e-5)

    def test_what_is_refused_says_why(self):
        for args, words in ((["w5 " * 200], "context"), (["w5", "--pooling", "max"], "pooling"), ([], "no text")):
            done = self.wick(*args)
            self.assertNotEqual(done.returncode, 0, args)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        done = subprocess.run([WICK, "run", "-m", MODEL, "-p", "w5"], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("encoder", done.stderr)


if __name__ == "__main__":
    unittest.main()
