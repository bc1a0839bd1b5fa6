#!/usr/bin/env python3
"""Every path, link, picture, preset, module, symbol and constant's value that a page, a comment or a message names exists."""
# labels: unit
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_dir() else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parents[1]
SKIPPED = ("tests/data/", "tests/fuzz/corpus/", "build/")
TEXT = {".h", ".cc", ".py", ".pyi", ".md", ".cmake", ".txt", ".json", ".sh", ".toml", ".in", ""}

# A word of another project, of a file format or of an instruction set, an example, or what is to come, by the page that needs it.
FOREIGN = {
    "docs/adding-a-model.md": {"configuration_olmo2", "modeling_NAME"},
    "docs/STYLE.md": {"foo_test", "source_location"},
    "docs/formats/sentencepiece.md": {"escape_whitespaces", "trainer_spec"},
    "docs/glossary.md": {"cache_salt"},
    "docs/kernels/iq4.md": {"tbl"},
    "docs/kernels/q4_k.md": {"vpmulld"},
    "docs/numerics.md": {"max_j", "vdpbf16ps"},
    "docs/perf.md": {"vpermb", "vpmulld"},
    "docs/templates.md": {"lipsum"},
    "docs/tokenizers.md": {"UNUSED", "UnicodeScripts", "chameleon", "spark2_5"},
    "docs/library.md": {"n_x"},
}
SYMBOL = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.|->)~?[A-Za-z_]\w*)*(?:\(\))?")
# From a folder of the root, or from a module as an include says it. Patterns, ranges and names to be filled in are no paths.
PATH = re.compile(r"(?<![\w/.~$}{-])((?:src|include|tests|tools|bench|examples|docs|cmake|python|\.ci)/[\w./+-]*[\w/]|"
                  r"(?:MODULES)/[\w/]+\.(?:h|cc))(?![\w*<{$…]|/[*<{$…]|\.\*)")
PRESET = re.compile(r"(?:--preset[ =]|[Pp]resets? `?|tools/build )([a-z]+)\b(?!/)")
VALUE = re.compile(r"`(k[A-Z]\w*)` ?(?:=|\() ?(-?[\d,]+)\b(?! ?[KMG]i?B)")
SECTION = re.compile(r'(docs/[\w./-]+\.md),? "([^"\n]+)"')  # the start of a heading, or of bold text
LINK = re.compile(r"\]\(([^)\s]+)\)")


def tracked(root):
    done = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    names = done.stdout.split() if done.returncode == 0 and done.stdout else [
        p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file() and ".git/" not in p.as_posix()]
    return [name for name in names if (root / name).is_file()]


def wrong(root):
    """A line for each thing that is named and is not there."""
    names = tracked(root)
    folders = {"/".join(name.split("/")[:i]) for name in names for i in range(1, name.count("/") + 1)}
    known = set(names) | folders
    modules = sorted({name.split("/")[1] for name in names if name.startswith("src/") and name.count("/") > 1} | {"wick", "support"})
    path = re.compile(PATH.pattern.replace("MODULES", "|".join(modules)))
    presets = {p["name"] for p in json.loads((root / "CMakePresets.json").read_text())["configurePresets"]} | {"all"}
    texts = {}
    for name in names:
        if pathlib.Path(name).suffix in TEXT and not name.startswith(SKIPPED):
            try:
                texts[name] = (root / name).read_text()
            except UnicodeDecodeError:
                continue
    words, values = {f"{module}_test" for module in modules} | {f"wick_{module}" for module in modules}, {}
    for name in names:
        words |= {pathlib.Path(name).stem, f"fuzz_{pathlib.Path(name).stem}", f"bench_{pathlib.Path(name).stem}"}
    for name, text in texts.items():
        if name.endswith(".md") or name == "tests/references_test.py":  # its exceptions are no names of the code
            continue
        words |= set(re.findall(r"[A-Za-z_]\w*", text))
        for found in re.finditer(r"\b(k[A-Z]\w*)(?:\[\])? = (-?[\d']+)[;,]", text):
            values.setdefault(found[1], set()).add(int(found[2].replace("'", "")))
    out = []
    for name, text in texts.items():
        if name == "tests/references_test.py" or name == "tests/tidy_test.py":
            continue
        here = pathlib.Path(name).parent
        for number, line in enumerate(text.splitlines(), 1):
            for found in path.finditer(line):
                said = found[1].rstrip("/.")
                filled_in = re.search(r"\b(?:[A-Z]+|foo)(?:\b|_)", re.sub(r"README|STYLE|ARCHITECTURE|MIT", "", said))
                if not filled_in and name != "tools/peer_llama.sh" and " of commit " not in line and not exists(said, known, here):
                    out.append(f"{name}:{number}: there is no {said}")
            for found in SECTION.finditer(line):
                page = texts.get(found[1]) or ""
                if not re.search(rf"^#+ {re.escape(found[2])}|\*\*{re.escape(found[2])}", page, re.M):
                    out.append(f"{name}:{number}: {found[1]} has no section {found[2]}")
            if name.startswith((".ci", "docs/", "README", "tools/", "test.sh", "run.sh")):
                for found in PRESET.finditer(line):
                    if found[1] not in presets | {"release"} and (found[0].startswith("--") or "`" in found[0]):
                        out.append(f"{name}:{number}: there is no preset {found[1]}")
        if name.endswith(".md"):
            out += wrong_page(name, text, root, words, values)
    return out


def exists(said, known, here):
    """`said` as written, from a module, from the folders of public headers and tests, or a program without its suffix."""
    for top in ("", "src/", "include/", "tests/", f"{here}/"):
        if f"{top}{said}" in known or any(f"{top}{said}{suffix}" in known for suffix in (".cc", ".py")):
            return True
    return False


def wrong_page(name, text, root, words, values):
    out = []
    page = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    allowed, missing = FOREIGN.get(name, set()), set()
    for number, line in enumerate(page.splitlines(), 1):
        for found in re.finditer(r"`([^`\n]+)`", line):
            if not SYMBOL.fullmatch(found[1]) or re.fullmatch(r"WICK_[A-Z]+_[A-Z_]+", found[1]):  # a setting's variable: config_test
                continue
            for part in re.findall(r"[A-Za-z_]\w*", found[1]):
                if part not in words:
                    missing.add(part)
                    if part not in allowed:
                        out.append(f"{name}:{number}: nothing is called {part}")
        for found in VALUE.finditer(line):
            if found[1] in values and int(found[2].replace(",", "")) not in values[found[1]]:
                out.append(f"{name}:{number}: {found[1]} is {', '.join(map(str, values[found[1]]))}, not {found[2]}")
        for found in LINK.finditer(line):
            target = found[1].split("#")[0]
            if target and "://" not in target and not (root / name).parent.joinpath(target).exists():
                out.append(f"{name}:{number}: the link {target} leads nowhere")
    return out + [f"{name}: the exception {word} is not needed" for word in sorted(allowed - missing)]


def constants(text):
    """The numbers that a header defines; casts and the marks of C++'s literals are dropped."""
    found, plain = {}, re.sub(r"//[^\n]*", "", text)
    for name, value in re.findall(r"\b([a-z_]\w*|k[A-Z]\w*) =\s+([^;,]+?)(?=[;,])", plain):
        value = re.sub(r"std::\w+\{([^}]*)\}", r"\1", value).replace("'", "")
        value = re.sub(r"\b(\d+)U?L*\b", r"\1", value)
        if re.fullmatch(r"[-\w\s().+*<]+", value):
            try:
                found.setdefault(name, eval(value, {"__builtins__": {}}, dict(found)))  # numbers and names of the tree alone
            except (NameError, SyntaxError, TypeError):
                pass
    return found


def wrong_figures(root, rows):
    """A line for each row of tests/figures.txt whose page does not have the value of its constants."""
    out = []
    for row in rows:
        page, header, expression, words = (part.strip() for part in row.split("|", 3))
        value = eval(expression, {"__builtins__": {}}, constants((root / header).read_text()))
        said = " ".join(words.split()).replace("%,", f"{value:,}").replace("%", str(value))
        if said not in " ".join((root / page).read_text().split()):
            out.append(f"{page}: {expression} of {header} is {value}, but there is no '{said}'")
    return out


def figures(root):
    lines = (root / "tests/figures.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class References(unittest.TestCase):
    maxDiff = None

    def test_what_is_named_exists(self):
        self.assertEqual(wrong(ROOT), [])

    def test_figures_are_those_of_the_constants(self):
        self.assertEqual(wrong_figures(ROOT, figures(ROOT)), [])


class Planted(unittest.TestCase):
    """Each kind of reference, broken once."""

    def wrong(self, page="", code=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"CMakePresets.json": '{"configurePresets": [{"name": "release"}]}', "docs/a.md": page,
                               "src/base/a.h": "constexpr int kMost = 3;\nstruct Part {};\n" + code, "tests/x_test.py": ""}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return wrong(root)

    def test_what_is_there_may_be_named(self):
        self.assertEqual(self.wrong("`Part` in `src/base/a.h`, [a](a.md), `kMost` (3), `--preset release`, `base/a.h`, `src/*/limits.h`",
                                    "// docs/a.md, tests/x_test.py\n"), [])

    def test_paths(self):
        self.assertEqual(self.wrong("`src/base/b.h`"), ["docs/a.md:1: there is no src/base/b.h"])
        self.assertEqual(self.wrong("base/b.h says"), ["docs/a.md:1: there is no base/b.h"])
        self.assertEqual(self.wrong(code='fail("look at docs/b.md");\n'), ["src/base/a.h:3: there is no docs/b.md"])

    def test_symbols_values_links_and_presets(self):
        self.assertEqual(self.wrong("\n`Part::size()`"), ["docs/a.md:2: nothing is called size"])
        self.assertEqual(self.wrong("`kMost` (4)"), ["docs/a.md:1: kMost is 3, not 4"])
        self.assertEqual(self.wrong("![a](b.svg)"), ["docs/a.md:1: the link b.svg leads nowhere"])
        self.assertEqual(self.wrong("`cmake --preset fast`"), ["docs/a.md:1: there is no preset fast"])

    def test_sections(self):
        self.assertEqual(self.wrong("# Parts of a part\n**Bold.** x", '// docs/a.md, "Parts", docs/a.md, "Bold", docs/a.md, "x"\n'),
                         ["src/base/a.h:3: docs/a.md has no section x"])

    def test_figures(self):
        row = "docs/a.md | src/base/limits.h | kMost >> 10 | at most % KiB"
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/a.md": "It takes at most\n16 KiB.", "src/base/limits.h":
                               "inline constexpr std::size_t kMost = std::size_t{16} << 10U;  // 1 = one\n"}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(wrong_figures(root, [row]), [])
            (root / "src/base/limits.h").write_text("inline constexpr int kMost = 8'192;\n")
            self.assertEqual(wrong_figures(root, [row]), ["docs/a.md: kMost >> 10 of src/base/limits.h is 8, but there is no 'at most 8 KiB'"])

    def test_exceptions_that_are_not_needed(self):
        with unittest.mock.patch.dict(FOREIGN, {"docs/a.md": {"Part", "Whole"}}):
            self.assertEqual(self.wrong("`Part`, `Whole`"), ["docs/a.md: the exception Part is not needed"])


if __name__ == "__main__":
    unittest.main()
