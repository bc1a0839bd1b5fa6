#!/usr/bin/env python3
"""tools/tidy.py on copies of the sources in which a module boundary is crossed, and on small ones that break each other rule."""
# labels: unit
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ModuleBoundaries(unittest.TestCase):
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

    def test_provider_sees_no_engine_directly(self):
        self.plant("src/provider/provider.h", '#include "engine/engine.h"')
        said = self.tidy()
        self.assertIn("src/provider/provider.h: 'provider' may not include 'engine': src/engine/engine.h\n", said)
        self.assertIn("src/provider/gather.h: 'provider' may not include 'engine': src/engine/engine.h, through "
                      "src/provider/provider.h", said)

    def test_provider_sees_no_engine_through_another_module(self):
        modules = self.root / "tools/modules.txt"
        # A table that lets chat do what provider may not: each direct include is in its row.
        lines = [line for line in modules.read_text().splitlines() if not line.startswith("chat:")]
        at = next(i for i, line in enumerate(lines) if line.startswith("engine:"))
        lines.insert(at + 1, "chat: base quant format text sample backend model engine")
        modules.write_text("\n".join(lines) + "\n")
        self.plant("src/chat/json_value.h", '#include "engine/engine.h"')
        self.assertIn("src/provider/messages.h: 'provider' may not include 'engine': src/engine/engine.h, through "
                      "src/chat/json_value.h", self.tidy())

    def test_provider_sees_no_engine_through_a_public_header(self):
        self.plant("include/wick/usage.h", '#include "engine/engine.h"')
        said = self.tidy()
        self.assertIn("include/wick/usage.h: 'types' may not include 'engine'", said)

    def test_only_the_library_sees_the_api(self):
        self.plant("src/engine/engine.h", '#include "wick/model.h"')
        self.plant("include/wick/usage.h", '#include "wick/stream.h"')
        said = self.tidy()
        self.assertIn("src/engine/engine.h: 'engine' may not include 'api': include/wick/model.h\n", said)
        self.assertIn("include/wick/usage.h: 'types' may not include 'api': include/wick/stream.h\n", said)

    def test_two_types_of_one_name_are_one_for_the_linker(self):
        self.plant("src/hub/store.h", "namespace wick {\nstruct Command { int x; };\n}")
        self.assertRegex(self.tidy(), r"src/(cli/cli|hub/store)\.h: wick::Command is defined in src/(hub/store|cli/cli)\.h, too\n")

    def test_a_public_header_is_in_the_table(self):
        (self.root / "include/wick/new.h").write_text("#pragma once\n")
        self.assertIn("include/wick/new.h: is in neither group of public headers", self.tidy())


class Rules(unittest.TestCase):
    """Each rule, broken once in a tree of two modules."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("tools/modules.txt", "types: plain\napi: face\nbase:\nengine: base\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def tidy(self):
        return subprocess.run([sys.executable, ROOT / "tools/tidy.py", self.root], capture_output=True, text=True).stdout

    def refuses(self, path, text, *said):
        self.write(path, text)
        out = self.tidy()
        for line in said:
            self.assertIn(line, out)

    def accepts(self, path, text):
        self.write(path, text)
        self.assertEqual(self.tidy(), "tidy\n")

    def test_sizes_of_files_lines_and_functions(self):
        self.refuses("src/base/a.cc", "int x;\n" * 601, "src/base/a.cc: 601 lines, limit 600")
        self.accepts("src/base/a.cc", "int f(int a) {\n" + "  ++a;\n" * 67 + "  return a;\n}\n")
        self.refuses("src/base/a.cc", "\nint f(int a) {\n" + "  ++a;\n" * 68 + "  return a;\n}\n",
                     "src/base/a.cc:2: f has 71 lines, limit 70")
        self.refuses("src/base/a.cc", "// " + "a" * 98 + "\n", "src/base/a.cc:1: longer than 100 columns")

    def test_functions_are_found_wherever_they_stand(self):
        long = "{\n" + "  ++a;\n" * 70 + "}\n"
        for head, name in (("struct S {\n  explicit S(int a) : a_{a}, b_(a) ", "S"), ("struct S {\n~S() ", "~S"),
                           ("template <class T, int n = (1 > 0)>\nauto f(T a) noexcept(n > 0) -> int ", "f"),
                           ("namespace a { class [[nodiscard]] B final : C<int> {\n bool operator()(int a) const ", "operator"),
                           ("void S::T::f(int a) const& ", "f"), ('extern "C" {\nint f(int a) ', "f"), ("TEST(A, B) ", "TEST"),
                           ("const char* s = \"{\";  // {\nint f(int a) ", "f"), ("int table[] = {1, 2};\nint f(int a) ", "f")):
            self.write("src/base/a.cc", head + long)
            self.assertIn(f": {name.lstrip('~')} has 7", self.tidy(), head)

    def test_parameters(self):
        self.refuses("src/base/a.cc", "int f(int a, int b, int c, int d, int e, int f, int g) { return a; }\n",
                     "src/base/a.cc:1: f has 7 parameters, limit 6")
        self.accepts("src/base/a.cc", "int f(std::map<int, int> a, int b, int c, int d, int e, int g = h(1, 2)) { return a; }\n")
        self.accepts("src/base/a.cc", 'extern "C" int wick_f(int a, int b, int c, int d, int e, int f, int g, int h) { return a; }\n')

    def test_names(self):
        for text, said in (("struct my_type {\n};\n", "the type my_type is not PascalCase"),
                           ("void DoIt() {}\n", "the function DoIt is not snake_case"),
                           ("enum class A { kGood, bad };\n", "the enumerator bad is not kName"),
                           ("constexpr int limit = 3;\n", "the constant limit is not kName"),
                           ("#define TWICE(x) x x\n", "the macro TWICE is not WICK_NAME"),
                           ("using namespace std;\n", "a header that says 'using namespace'")):
            self.refuses("src/base/a.h", text, said)
        self.refuses("src/base/Camel.h", "", "src/base/Camel.h: a file is snake_case", "src/base/Camel.h: a header without '#pragma once'")

    def test_architectures_are_named_where_they_are_described(self):
        self.write("src/model/arch/wide.cc", 'Arch wide_arch() { return {.gguf_name = "wide-2"}; }\n')
        self.refuses("src/model/a.cc", 'bool b = s == "wide-2";\n', "src/model/a.cc:1: names the architecture 'wide-2'")
        self.refuses("src/model/a.cc", 'auto k = "wide-2.block_count";\n', "src/model/a.cc:1: names the architecture 'wide-2'")
        self.write("src/model/a.cc", 'int x;  // "wide-2"\nauto k = "wide-20";\n')
        self.assertNotIn("names the architecture", self.tidy())

    def test_conversions(self):
        text = "#pragma once\nclass Text {\n public:\n  Text(int size);\n  Text(const Text& other);\n  explicit Text(bool b);\n};\n"
        self.refuses("src/base/a.h", text, "src/base/a.h:4: Text is made of its argument without a word")
        self.accepts("src/base/a.h", text.replace("size);", "size);  // implicit: a size is a text of blanks"))

    def test_a_type_stands_for_one_thing(self):
        self.write("src/base/a.cc", "namespace wick {\nstruct Part {\n  int a;\n};\n}\n")
        self.refuses("src/engine/b.cc", "namespace wick {\nstruct Part {\n  long a;\n};\n}\n",
                     "src/engine/b.cc: wick::Part is defined in src/base/a.cc, too")
        self.write("src/engine/b.cc", "")
        self.write("src/base/a.h", "namespace wick {\ninline constexpr int kMost = 3;\n}\n")
        self.refuses("src/engine/b.h", "namespace wick {\ninline constexpr int kMost = 4;\n}\n",
                     "src/engine/b.h: kMost is defined in src/base/a.h, too")

    def test_hot_functions(self):
        header = "// A list.\n#pragma once\nclass A {\n public:\n  void make();\n  // Hot:\n  void add(int a) noexcept;\n\n private:\n  void grow();\n};\n"
        body = "void A::make() { items_.push_back(0); }\nvoid A::grow() { items_.push_back(1); }\nvoid A::add(int a) noexcept { CALL }\n"
        self.write("src/engine/a.h", header)
        self.accepts("src/engine/a.cc", body.replace("CALL", "items_[0] = a;"))
        self.refuses("src/engine/a.cc", body.replace("CALL", "items_.push_back(a);"),
                     "src/engine/a.cc:3: 'push_back' on the hot path; mark '// cold: why' if it does not run there")
        self.refuses("src/engine/a.cc", body.replace("CALL", "grow();"), "src/engine/a.cc:2: 'push_back' on the hot path")
        self.accepts("src/engine/a.cc", body.replace("CALL }", "items_.push_back(a); }  // cold: within what was reserved"))
        self.write("src/engine/a.cc", "")
        self.refuses("src/engine/a.h", header.replace("(int a) noexcept", "(int a)"),
                     "src/engine/a.h:7: add is under '// Hot:' and not noexcept")

    def test_hot_files(self):
        self.write("src/engine/a.h", "// Sums.\n// Hot: all of it.\n#pragma once\n")
        self.refuses("src/engine/a.cc", "int f() {\n  return *std::make_unique<int>(3);\n}\n", "src/engine/a.cc:2: 'make_unique' on the hot path")
        self.refuses("src/engine/a.cc", "void f() {\n  throw 3;\n}\n", "src/engine/a.cc:2: 'throw' on the hot path")

    def test_retired_words_in_pages(self):
        self.write("src/base/a.cc", "int x;\n")
        for word in ("the whole " + "house", "initial" + "ise", "the numbers of the " + "cache"):
            self.refuses("docs/a.md", f"# A page\n{word}\n", "docs/a.md:2: '")
        self.accepts("docs/a.md", "# A page\ninitialize the KV cache\n")

    def test_threads_terminal_and_retired_words(self):
        self.refuses("src/engine/a.cc", "std::thread t(f);\nstd::cout << 3;\n// scored by Scored" "Token\n", "src/engine/a.cc:1: starts a thread",
                     "src/engine/a.cc:2: writes to the terminal", "src/engine/a.cc:3: 'Scored" "Token' is retired")


if __name__ == "__main__":
    unittest.main()
