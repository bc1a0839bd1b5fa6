#!/usr/bin/env python3
"""The link of .ci/run with -Wodr: two types of one name are found, one type is not."""
# labels: unit
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Odr(unittest.TestCase):
    def warnings_of(self, *sources):
        """The lines that .ci/run refuses, for a program of these sources built with the flags of the preset `odr`."""
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        flags = next(p for p in presets if p["name"] == "odr")["cacheVariables"]["CMAKE_CXX_FLAGS"].split()
        pattern = re.search(r"grep -A4 '([^']*)' build/odr/build.log", (ROOT / ".ci/run").read_text())[1].replace("\\|", "|")
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{number}.cc" for number in range(len(sources))]
            for name, source in zip(names, sources):
                pathlib.Path(folder, name).write_text(source)
            done = subprocess.run(["g++", "-std=c++20", "-O0", *flags, *names, "-o", "program"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [line for line in done.stderr.splitlines() if re.search(pattern, line)]

    def test_two_types_of_one_name(self):
        use = "{ Command c; c.run(); return c.x; }\n"
        one = "struct Command { int x = 0; virtual ~Command() = default; virtual void run() {} };\nint f()" + use
        main = "int f();\nstruct Command { long a = 0, x = 0; virtual ~Command() = default; virtual void run() {} };\nlong g()" + use
        self.assertNotEqual(self.warnings_of(one, main + "int main() { return f() + int(g()); }\n"), [])
        same = one.replace("int f()", "int g()")
        self.assertEqual(self.warnings_of(one, "int f();\n" + same + "int main() { return f() + g(); }\n"), [])


if __name__ == "__main__":
    unittest.main()
