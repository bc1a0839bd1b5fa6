#!/usr/bin/env python3
"""tools/tidy.py on copies of the sources in which a border was crossed."""
# labels: unit
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Borders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for part in ("src", "include", "tools/modules.txt"):
            (self.root / part).parent.mkdir(exist_ok=True)
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, self.root / part)

    def plant(self, path, line, behind="#pragma once"):
        file = self.root / path
        text = file.read_text()
        self.assertIn(behind, text)
        file.write_text(text.replace(behind, f"{behind}\n{line}", 1))

    def tidy(self):
        done = subprocess.run([sys.executable, ROOT / "tools/tidy.py", self.root], capture_output=True, text=True)
        self.assertEqual(done.returncode != 0, done.stdout != "tidy\n")
        return done.stdout

    def test_the_sources_as_they_are(self):
        self.assertEqual(self.tidy(), "tidy\n")

    def test_provider_sees_no_engine_directly(self):
        self.plant("src/provider/provider.h", '#include "engine/engine.h"')
        said = self.tidy()
        self.assertIn("src/provider/provider.h: 'provider' may not include 'engine': src/engine/engine.h\n", said)
        self.assertIn("src/provider/gather.h: 'provider' may not include 'engine': src/engine/engine.h, through "
                      "src/provider/provider.h", said)

    def test_provider_sees_no_engine_through_another_room(self):
        rooms = self.root / "tools/modules.txt"
        # A table that lets chat do what provider may not: each direct include is in its row.
        lines = [line for line in rooms.read_text().splitlines() if not line.startswith("chat:")]
        at = next(i for i, line in enumerate(lines) if line.startswith("engine:"))
        lines.insert(at + 1, "chat: base quant format text sample backend model engine")
        rooms.write_text("\n".join(lines) + "\n")
        self.plant("src/chat/json_value.h", '#include "engine/engine.h"')
        self.assertIn("src/provider/messages.h: 'provider' may not include 'engine': src/engine/engine.h, through "
                      "src/chat/json_value.h", self.tidy())

    def test_provider_sees_no_engine_through_a_public_header(self):
        self.plant("include/wick/usage.h", '#include "engine/engine.h"')
        said = self.tidy()
        self.assertIn("include/wick/usage.h: 'words' may not include 'engine'", said)

    def test_only_the_library_sees_the_faces(self):
        self.plant("src/engine/engine.h", '#include "wick/model.h"')
        self.plant("include/wick/usage.h", '#include "wick/stream.h"')
        said = self.tidy()
        self.assertIn("src/engine/engine.h: 'engine' may not include 'faces': include/wick/model.h\n", said)
        self.assertIn("include/wick/usage.h: 'words' may not include 'faces': include/wick/stream.h\n", said)

    def test_two_types_of_one_name_are_one_for_the_linker(self):
        self.plant("src/hub/store.h", "namespace wick {\nstruct Command { int x; };\n}")
        self.assertRegex(self.tidy(), r"src/(cli/cli|hub/store)\.h: wick::Command is defined in src/(hub/store|cli/cli)\.h, too\n")

    def test_a_public_header_is_in_the_table(self):
        (self.root / "include/wick/new.h").write_text("#pragma once\n")
        self.assertIn("include/wick/new.h: is in neither group of public headers", self.tidy())


if __name__ == "__main__":
    unittest.main()
