#!/usr/bin/env python3
"""The README's fragments for C++ and C compile as they stand there, and print the answer. Python's: see python_test.py."""
# labels: cli model
import pathlib
import subprocess
import sys
import tempfile
import unittest

from common import MODEL, ROOT, fragment

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
LANGUAGES = {
    "cpp": (["g++", "-std=c++20"], '#include <iostream>\n#include "wick/model.h"\nint main() {\n%s\n}\n', "main.cc"),
    "c": (["cc", "-std=c99"], '#include <stdio.h>\n#include "wick/wick.h"\nint main(void) {\n%s\nreturn 0;\n}\n', "main.c"),
}


class Readme(unittest.TestCase):
    def test_the_fragments_compile_and_answer(self):
        for language, (compiler, frame, name) in LANGUAGES.items():
            with self.subTest(language), tempfile.TemporaryDirectory() as text:
                folder = pathlib.Path(text)
                (folder / name).write_text(frame % fragment(language))
                (folder / "model.gguf").symlink_to(MODEL)
                built = subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", name, "-o", "main",
                                        f"{BUILD}/libwick.so", f"-Wl,-rpath,{BUILD}"],
                                       cwd=folder, capture_output=True, text=True, timeout=120)
                self.assertEqual(built.returncode, 0, built.stderr)
                done = subprocess.run([folder / "main"], cwd=folder, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.stdout, "The capital of Japan is Tokyo.\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
