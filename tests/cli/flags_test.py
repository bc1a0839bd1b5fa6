#!/usr/bin/env python3
"""Every flag that a message, the README or a page of docs/ names is one that the program has; a slip of the fingers gets a hint."""
# labels: cli
import pathlib
import re
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
# Flags of other programs, by the file that names them.
# perf.md: programs of bench/; shell.md: an option of ls in a row of a table.
OTHERS = {"src/cli/format_flags.cc": {"--json-schema", "--json-schema-file", "--grammar-file"},  # aliases
          "src/assist/trash.cc": {"--force", "--recursive"}, "src/assist/undo.cc": {"--soft"}, "ask.md": {"--force", "--force-with-lease", "--no-verify", "--token"},  # of rm and git
          "src/hub/pypi.cc": {"--no-deps", "--only-binary", "--quiet"}, "perf.md": {"--pairs", "--judge", "--rounds", "--pin", "--streams"}, "shell.md": {"--color"},
          "config.md": {"--format", "--mlock", "--no-mmap", "--jinja", "--keepalive", "--max-model-len", "--max-num-seqs",
                        "--embedding", "--slots", "--served-model-name", "--alias", "--api-key"}}
# Other programs say theirs in full; a flag alone, or behind `wick`, is the program's.
OURS = re.compile(r"(?:wick |-)")


class Flags(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = tiny.Home(WICK, cls.folder.name)
        cls.known = cls.flags_below()

    @classmethod
    def flags_below(cls, *path):
        text = cls.home.wick(*path, "--help-all").stdout.decode()
        found = set(FLAG.findall(text))
        for name in re.findall(r"^  ([a-z]+) ", text.partition("ubcommands:\n")[2], re.M):
            found |= cls.flags_below(*path, name)
        return found

    def test_messages_name_flags_that_there_are(self):
        self.assertGreater(len(self.known), 60)
        literal = re.compile(r'"((?:\\.|[^"\\\n])*)"')
        for path in sorted((ROOT / "src").rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".h", ".cc") or "_test." in name or name.startswith(("src/shell/", "src/assist/secrets.cc")):  # options of what they analyze
                continue
            code = re.sub(r"//[^\n]*", "", path.read_text())
            if name == "src/cli/aliases.cc":  # flags of other programs, which it replaces
                code = re.sub(r'\.names =\s*"[^"]*"|is_one_of\([^()]*\)|name == "[^"]*"', "", code)
            named = {flag for text in literal.findall(code) for flag in FLAG.findall(text)}
            self.assertLessEqual(named, self.known | OTHERS.get(name, set()), name)

    def unknown_flags(self, page, name):
        """Those that a page names and the program does not have."""
        unknown = set()
        for code in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page, flags=re.S)):
            if OURS.match(code):
                unknown |= set(FLAG.findall(code)) - self.known - OTHERS.get(name, set())
        return unknown

    def test_the_docs_name_flags_that_there_are(self):
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
            self.assertEqual(self.unknown_flags(path.read_text(), path.name), set(), path.name)

    def test_a_flag_that_there_is_not_is_found(self):
        self.assertEqual(self.unknown_flags("`--temp 0`, `wick run --tepm 1`, `other --tepm`", "a.md"), {"--tepm"})

    def test_help_shows_no_marks_of_the_parser(self):
        for command in ("chat", "run", "estimate"):
            text = self.home.wick(command, "--help-all").stdout.decode()
            self.assertIn("--kv-reuse,--no-kv-reuse ", " ".join(text.split()))
            self.assertNotIn("{", text.partition("--json")[0])
        for path in (("bench",), ("bench", "serve"), ("run",), ("tokenize",), ("template",), ("model", "pull"), ("key", "update")):
            text = " ".join(self.home.wick(*path, "--help-all").stdout.decode().split())
            self.assertNotRegex(text, r"INT|REQUIRED|Excludes|TEXT TEXT|MODEL TEXT|TEXT=\w", path)
        self.assertIn("--late N measure how long a prompt", " ".join(self.home.wick("bench", "serve", "--help").stdout.decode().split()))
        self.assertIn("(-1 to 20; default -1)", " ".join(self.home.wick("run", "--help-all").stdout.decode().split()))

    def test_help_fits_a_screen(self):
        for command in ("chat", "run", "serve", "embed", "bench"):
            lines = self.home.wick(command, "--help").stdout.decode().splitlines()
            self.assertLessEqual(len(lines), 50, command)
            self.assertEqual([line for line in lines if len(line) > 110], [], command)

    def test_words_of_llama_cpp_and_ollama(self):
        """As their users type them; src/cli/aliases_test.cc has each flag."""
        m = self.home.model
        for words in (["run", m, "hi", "-n", "2"], ["run", "-m", m, "-p", "hi", "--n-predict", "2", "-ngl", "99", "-fa", "on"],
                      ["chat", "-m", m, "-p", "hi", "--predict", "2", "--ctx-size", "128", "-b", "64", "-ub", "64", "--mlock"],
                      ["run", m, "hi", "-n", "2", "--format", "json", "--keepalive", "5m", "--nowordwrap", "--think=false"],
                      ["chat", m, "-f", "prompt.txt", "-n", "2", "-ctk", "f16", "-ctv", "f32", "-sys", "Be brief."],
                      ["ls"], ["list"], ["show", m], ["help"], ["help", "chat"], ["version"], ["-v"]):
            self.home.folder.joinpath("prompt.txt").write_text("hi\n")
            done = self.home.wick(*words)
            self.assertEqual(done.returncode, 0, (words, done))
        done = self.home.wick("ps", "--url", "http://127.0.0.1:9")
        self.assertEqual(done.returncode, 4)
        self.assertIn("hint: start one with wick serve", done.stderr.decode())

    def test_a_slip_gets_the_nearest_name(self):
        for words, message, hint in ((["chta"], "there is no command 'chta'", "did you mean: chat? See wick --help"),
                                     (["model", "lsit"], "there is no command 'lsit'", "did you mean: list? See wick model --help"),
                                     (["chat", "--tepm", "0"], "--tepm", "did you mean: --temp? See wick chat --help"),
                                     (["run", "--max-token=3"], "wick run has no flag --max-token", "--max-tokens"),
                                     (["run", "-x", "3"], "wick run has no flag -x", "hint: wick run --help"),
                                     (["run", "-c", "8", "-c", "9"], "--context is given more than once", "hint: wick run --help"),
                                     (["-m", "a.gguf", "-p", "hi"], "a command is missing before -m", "wick run (an answer)"),
                                     (["check", "rm", "-rf", "x"], "wick check has no flag -rf", "in quotes: wick check 'rm -rf x'"),
                                     (["explain", "ls", "x"], "x", "in quotes: wick explain 'rm -rf x'"),
                                     (["check", "ls", "--shell", "tcsh"], "the shell 'tcsh' is not known", "hint: bash, sh, zsh or fish"),
                                     (["explain"], "no command is given", "wick explain 'rm -rf build'"),
                                     (["check"], "no command is given", "wick check 'rm -rf build'"),
                                     (["grammar", "sample"], "no constraint is given", "wick grammar sample --schema"),
                                     (["grammar", "explain"], "no constraint is given", "wick grammar explain --schema"),
                                     (["xyzzy"], "there is no command 'xyzzy'", "hint: wick --help")):
            done = self.home.wick(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr.decode())
            self.assertIn(hint, done.stderr.decode())

    def test_run_reads_its_arguments_in_any_order(self):
        """With -m the first argument is the prompt, wherever -m is."""
        m = self.home.model
        texts = {self.home.wick("run", *words, "-n", "3", "--temp", "0").stdout for words in
                 ([m, "hi"], ["-m", m, "hi"], ["hi", "-m", m], ["hi", f"--model={m}"], ["--top-k", "5", "hi", "-m", m])}
        self.assertEqual((len(texts), min(map(len, texts)) > 0), (1, True), texts)
        for words, message, hint in ((["run", "hi", "there", "-m", m], "'there' is an argument too many", "in quotes"),
                                     (["run", "hi", "-m", m, "-p", "x"], "there are two prompts", "wick run --help"),
                                     (["run", "-m", m, "-m", m, "hi"], "--model is given more than once", "wick run --help"),
                                     (["chat", "hi", "-m", m], "'hi' is an argument too many", "wick chat -m MODEL -p PROMPT"),
                                     (["chat", "-m", m, "hi"], "'hi' is an argument too many", "wick chat -m MODEL -p PROMPT"),
                                     (["estimate", m, "-m", m], "is an argument too many", "leave one of them out")):
            done = self.home.wick(*words)
            self.assertEqual(done.returncode, 2, (words, done))
            self.assertIn(message, done.stderr.decode())
            self.assertIn(hint, done.stderr.decode())

    def test_a_prompt_where_the_model_stands_gets_a_hint(self):
        for command in ("chat", "run"):
            done = self.home.wick(command, "Why is the sky blue?", "--offline")
            self.assertEqual(done.returncode, 4, done)
            self.assertIn(f'hint: a prompt is the value of -p: wick {command} -p "Why', done.stderr.decode())
            self.assertIn("a prompt is the value of -p", self.home.wick(command, "hello", "--offline").stderr.decode())
        self.assertNotIn("-p", self.home.wick("chat", "-m", "no such model", "--offline").stderr.decode())

    def test_a_text_behind_the_model_is_the_text(self):
        done = self.home.wick("tokenize", "-m", self.home.model, "abc", "--count")
        self.assertEqual((done.returncode, done.stdout), (0, b"2\n"), done)


if __name__ == "__main__":
    unittest.main(verbosity=0)
