#!/usr/bin/env python3
"""The examples of docs/ run as they stand there: commands of shell blocks, requests by curl, config files. Shown output is compared, except `…`.
A block that this test neither runs nor lists below is an error. readme_test.py runs the README's."""
# labels: cli
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import serving
import tiny

WICK = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Page and the beginning of a block that is tested elsewhere.
ELSEWHERE = {
    ("docs/ask.md", "$ wick ask remove the temporary files"): "tests/cli/ask_test.py",
    ("docs/ask.md", "wick init bash >~/.wick.bash"): "tests/cli/ask_test.py",
    ("docs/ask.md", "[[deny]]"): "tests/cli/ask_test.py",
    ("docs/server.md", "$ wick serve -m model.gguf"): "tests/cli/serve_test.py",
    ("docs/templates.md", "python3 tools/parity"): ".ci/long fuzz_templates",
}
RUN = re.compile(r"^(?:\$ )?(?:wick|curl|export|eval|python3)\b", re.M)
FILES = {
    "messages.json": json.dumps(serving.TALK),
    "other.jinja": "{{ messages[0]['content'] }}",
    "tokenizer_config.json": json.dumps({"chat_template": [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]}),
    "schema.json": json.dumps({"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}}, "required": ["name"]}),
    "document.json": '{"name": "Loire"}\n',
    "prices.json": "{}",
    "sums.gbnf": 'root ::= [0-9] "+" [0-9]\n',
}


def blocks():
    """(page, language, text) of each block with something to run, and of each config file."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.M | re.S):
            if language == "toml" or (language in ("", "sh", "console") and RUN.search(text)):
                yield path.relative_to(ROOT).as_posix(), language, text


def is_elsewhere(page, text):
    return any(page == where and text.startswith(start) for where, start in ELSEWHERE)


def commands(language, text):
    """(command, what it prints or None) of a block; a command ends where its quotes and continued lines do."""
    if language == "console":
        return [(lines.partition("\n")[0], lines.partition("\n")[2]) for lines in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]]
    if text.startswith("curl"):
        return [(text, None)]
    return [(line, None) for line in text.splitlines()]


def matches(shown, printed):
    return re.fullmatch(".*?".join(re.escape(part) for part in shown.split("…")), printed, re.S)


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = tiny.Home(WICK, cls.folder.name, context=4096)
        for name in ("model.gguf", "smollm2-135m.gguf", "MODEL"):
            shutil.copy(cls.home.model, cls.home.folder / name)
        for name, text in FILES.items():
            (cls.home.folder / name).write_text(text)
        cls.home.environment |= {"PATH": f"{WICK.parent}:{os.environ['PATH']}", "WICK_LOCAL_MODEL_PATH": str(cls.home.model),
                                 "WICK_GENERATION_MAX_TOKENS": "400"}
        cls.server = serving.Server(cls.home, "-m", "smollm2-135m.gguf", model=False)

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.folder.cleanup()

    def shell(self, text):
        text = re.sub(r"(?:127\.0\.0\.1|localhost):8080", f"127.0.0.1:{self.server.port}", text)
        return subprocess.run(["bash", "-c", text], cwd=self.home.folder, env=self.home.environment, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_block(self, language, text):
        exports = ""
        for command, shown in commands(language, text):
            if command.startswith("export"):
                exports += command + "\n"
                continue
            if re.match("wick key (update|block|unblock|revoke)", command):  # of the key that the block has made
                made = json.loads(self.shell(exports + "wick key list --json").stdout)["keys"][-1]["id"]
                command = re.sub(r"(wick key \w+) \S+", rf"\1 {made}", command)
            done = self.shell(exports + command)
            self.assertEqual(done.returncode, 1 if " --diff " in command else 0, f"{command}\n{done.stdout}{done.stderr}")
            if command.startswith("curl"):
                self.assertIn("choices", done.stdout)  # an error has none
                choice = json.loads(done.stdout)["choices"][0]
                self.assertEqual("tool_calls" in choice["message"], '"required"' in command and '"tools"' in command, choice)
            elif shown:
                self.assertTrue(matches(shown, done.stdout), f"{command}\nshown:\n{shown}\nprinted:\n{done.stdout}")
            else:
                self.assertTrue(done.stdout or "revoke" in command, command)

    def test_the_commands_work_and_print_what_is_shown(self):
        counted = 0
        for page, language, text in blocks():
            if language != "toml" and not is_elsewhere(page, text):
                counted += 1
                with self.subTest(page, text=text):
                    self.run_block(language, text)
        self.assertGreaterEqual(counted, 7, "blocks are no longer found")

    def test_the_config_files_are_read(self):
        for page, language, text in blocks():
            if language == "toml" and not is_elsewhere(page, text):
                with self.subTest(page):
                    named = set(re.findall(r'"([\w-]+)/', text)) - {"local"}
                    missing = sorted(named - set(re.findall(r'^name = "([\w-]+)"', text, re.M)))
                    providers = "".join(f'[[provider]]\nname = "{name}"\nkind = "wick"\nendpoint = "http://127.0.0.1:1/v1"\n' for name in missing)
                    text = text.replace("/etc/wick/model_prices_and_context_window.json", str(self.home.folder / "prices.json"))
                    (self.home.folder / "config.toml").write_text(text + providers)
                    alias = re.search(r"^\[alias\]\n([\w-]+) =", text, re.M)
                    done = self.shell(f"WICK_CONFIG=config.toml wick route explain -p hi {alias[1]}" if alias else "WICK_CONFIG=config.toml wick config show")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if "[fallback]" in text:  # the example sends something to its API
                        done = self.shell("OPENAI_API_KEY=x WICK_CONFIG=config.toml wick route explain -p hi")
                        self.assertRegex(done.stdout, r"\n1\. local: .*\n2\. openai/gpt-4o-mini: at most 0\.00")

    def test_each_exception_is_a_block(self):
        seen = list(blocks())
        for page, start in ELSEWHERE:
            self.assertTrue(any(page == where and text.startswith(start) for where, _, text in seen), (page, start))

    def test_the_page_of_chat_has_the_commands_of_help(self):
        terminal = tiny.Terminal(self.home, "chat", self.home.model)
        terminal.until(b"> ")
        terminal.say("/help")
        terminal.until(b"stops an answer.")
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)
        printed = set(re.findall(r"^(/\w+)", terminal.seen.decode().replace("\r", ""), re.M)) - {"/help", "/quit"}
        self.assertGreaterEqual(len(printed), 7)
        page = (ROOT / "docs/chat.md").read_text()
        self.assertEqual({name for name in printed if f"`{name}" not in page}, set())

    def test_a_wrong_word_would_be_noticed(self):
        self.assertTrue(matches("a\n…c\n", "a\nb\nc\n"))
        self.assertFalse(matches("a\n…c\n", "a\nb\nd\n"))
        self.assertEqual(commands("console", "$ a \\\n  b\nc\n$ d\n"), [("a    b", "c\n"), ("d", "")])


if __name__ == "__main__":
    unittest.main()
