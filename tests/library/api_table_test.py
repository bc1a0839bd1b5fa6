#!/usr/bin/env python3
"""tools/api_table.py: C and Python have what C++ has, and what is planted in C++ alone is noticed; docs/library.md shows the same."""
# labels: unit
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from api_table import ApiTable  # noqa: E402


class OneList(unittest.TestCase):
    def test_c_and_python_have_what_cpp_has(self):
        table = ApiTable(ROOT)
        self.assertEqual(list(table.missing()), [])
        self.assertGreater(len(table.fields), 120)
        self.assertGreater(len(table.functions), 45)

    def test_the_tables_in_the_docs_are_those_of_the_headers(self):
        self.assertIn(ApiTable(ROOT).table(), (ROOT / "docs/library.md").read_text(),
                      "docs/library.md is stale: put the output of `tools/api_table.py table` at its end")

    def test_the_flags_are_the_programs(self):
        shown = "".join(subprocess.run([BUILD / "wick", command, "--help-all"], capture_output=True, text=True, timeout=60, check=True).stdout
                        for command in ("run", "chat", "serve", "embed"))
        flags = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", " ".join(row.split("|")[6] for row in ApiTable(ROOT).table().splitlines()
                                                                      if row.count("|") == 7)))
        self.assertGreater(len(flags), 25)
        self.assertEqual(flags - set(re.findall(r"--?[a-z][\w-]*", shown)), set())


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for part in ("include/wick", "python", "docs", "src/library"):
            shutil.copytree(ROOT / part, self.root / part)

    def plant(self, path, behind, line):
        file = self.root / path
        text = file.read_text()
        self.assertIn(behind, text)
        file.write_text(text.replace(behind, f"{behind}\n{line}", 1))

    def missing(self):
        return list(ApiTable(self.root).missing())

    def test_a_field_of_cpp_alone(self):
        self.plant("include/wick/generation.h", "struct Generation {", "  std::optional<int> planted = {};")
        self.assertEqual(self.missing(), [f"{api} lacks Generation.planted: give it one, or tools/api_table.py a reason"
                                          for api in ("C", "Python")])
        self.plant("include/wick/wick.h", "typedef struct wick_generation {", "  int planted;")
        self.plant("python/wick/_wick.pyi", "class Settings(TypedDict, total=False):", "    planted: int")
        self.assertEqual(self.missing(), ["C has Generation.planted, which src/library/c_convert.cc does not hand over",
                                          "Python has Generation.planted, which python/convert.h does not hand over"])
        self.plant("include/wick/fields.h", "FIELD(max_tokens)                   \\", "  FIELD(planted)  \\")
        self.assertEqual(self.missing(), [])

    def test_a_field_of_the_list_alone(self):
        self.plant("include/wick/fields.h", "FIELD(prompt_tokens)           \\", "  FIELD(planted)  \\")
        self.assertEqual(self.missing(), ["WICK_USAGE_FIELDS: Usage has no planted"])

    def test_functions_and_structs_of_cpp_alone(self):
        self.plant("include/wick/session.h", "bool undo();", "  Result<void> planted(std::string_view text) const;")
        self.plant("include/wick/log.h", "// \"info\", \"warning\".", "WICK_API int planted_too() noexcept;")
        self.plant("include/wick/usage.h", "namespace wick {", "struct Planted {\n  int n = 0;\n};")
        self.assertEqual(self.missing(), ["Planted is in no list of tools/api_table.py", *(
            f"{api} lacks {name}: give it one, or tools/api_table.py a reason"
            for api in ("C", "Python") for name in ("Session.planted", "planted_too"))])

    def test_an_exception_that_is_none(self):
        self.plant("include/wick/wick.h", "/* Stream sets:", "*/\nWICK_API const char* wick_stream_text(wick_stream* stream);\n/*")
        self.assertEqual(self.missing(), ["C has Stream.text, which tools/api_table.py calls an exception"])
        (self.root / "include/wick/stream.h").write_text(
            (self.root / "include/wick/stream.h").read_text().replace("std::string_view text() const noexcept;", ""))
        self.assertEqual(self.missing(), ["C++ lacks Stream.text, an exception of C"])


if __name__ == "__main__":
    unittest.main()
