#!/usr/bin/env python3
"""`wick template` as a user meets it: templates from files, by name, with variables, their tokens and differences.

labels: cli
"""
# labels: cli
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

WICK = str(pathlib.Path(sys.argv.pop(1)).resolve())
TOKENIZER = pathlib.Path(__file__).parents[1] / "data/text/tiny_bpe.json"
TEMPLATE = """{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}{{ date }}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
MESSAGES = [{"role": "user", "content": "Hi <|im_end|>"}]
PROMPT = "<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n"


class Template(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file("t.jinja", TEMPLATE)
        self.file("m.json", json.dumps(MESSAGES))

    def file(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def wick(self, *args, stdin=""):
        return subprocess.run([WICK, "template", *args], input=stdin, capture_output=True, text=True, timeout=60,
                              cwd=self.folder.name, check=False)

    def test_prints_the_prompt_as_it_is_from_a_file_or_standard_input(self):
        self.assertEqual(self.wick("m.json", "--template", "t.jinja").stdout, PROMPT)
        self.assertEqual(self.wick("--template", "t.jinja", stdin=json.dumps(MESSAGES)).stdout, PROMPT)
        whole = json.dumps({"messages": MESSAGES, "add_generation_prompt": False})
        self.assertEqual(self.wick("--template", "t.jinja", stdin=whole).stdout, PROMPT[:-22])
        self.assertEqual(self.wick("--template", "t.jinja", "--add-generation-prompt", stdin=whole).stdout, PROMPT)
        self.assertEqual(self.wick("m.json", "--template", "t.jinja", "--no-generation-prompt").stdout, PROMPT[:-22])

    def test_sets_variables(self):
        done = self.wick("m.json", "--template", "t.jinja", "--set", 'date="1 May"', "--set", 'tools=[{"a": 1}]')
        self.assertIn('[{"a": 1}]1 May<|im_start|>', done.stdout)
        wrong = self.wick("m.json", "--template", "t.jinja", "--set", "date=1 May")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("hint: ", wrong.stderr)

    def test_chooses_among_named_templates(self):
        self.file("tokenizer_config.json", json.dumps({"chat_template": [
            {"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}, {"name": "rag", "template": "R"}]}))
        def prompt(*args):
            return self.wick("m.json", "--template", "tokenizer_config.json", *args)
        self.assertEqual(prompt().stdout, "D")
        self.assertEqual(prompt("--set", "tools=[]").stdout, "T")
        self.assertEqual(prompt("--name", "rag").stdout, "R")
        missing = prompt("--name", "nope")
        self.assertEqual(missing.returncode, 4)
        self.assertIn("default, tool_use, rag", missing.stderr)

    def test_reads_a_folder_with_files_for_each_template(self):
        self.file("model/chat_template.jinja", "D")
        self.file("model/tokenizer_config.json", json.dumps({"chat_template": "old"}))
        pathlib.Path(self.folder.name, "model/additional_chat_templates").mkdir()
        self.file("model/additional_chat_templates/rag.jinja", "R")
        self.assertEqual(self.wick("m.json", "-m", "model").stdout, "D")
        self.assertEqual(self.wick("m.json", "-m", "model", "--name", "rag").stdout, "R")

    def test_shows_tokens_and_whose_words_they_are(self):
        done = self.wick("m.json", "--template", "t.jinja", "-m", str(TOKENIZER), "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["text"], PROMPT)
        self.assertEqual("".join(t["text"] for t in answer["tokens"]), PROMPT)
        for token in answer["tokens"]:
            if token["text"] == "<|im_end|>":
                self.assertEqual(token["from"], "template")
        typed = "".join(t["text"] for t in answer["tokens"] if t["from"] == "input")
        self.assertIn("Hi", typed)
        self.assertNotIn("assistant", typed)
        self.assertEqual(PROMPT.encode()[answer["trusted"][1][0]:].decode(), PROMPT[PROMPT.index("<|im_end|>\n"):])
        lines = self.wick("m.json", "--template", "t.jinja", "-m", str(TOKENIZER), "--tokens").stdout.splitlines()
        self.assertEqual(len(lines), len(answer["tokens"]))
        self.assertEqual(self.wick("m.json", "--template", "t.jinja", "--tokens").returncode, 2)

    def test_shows_how_another_template_differs(self):
        same = self.wick("m.json", "--template", "t.jinja", "--diff", "t.jinja")
        self.assertEqual((same.returncode, same.stdout), (0, ""))
        self.file("u.jinja", TEMPLATE.replace("{{ m.content }}", "{{ m.content | upper }}"))
        done = self.wick("m.json", "--template", "t.jinja", "--diff", "u.jinja")
        self.assertEqual(done.returncode, 1)
        self.assertIn("-Hi <|im_end|><|im_end|>\n+HI <|IM_END|><|im_end|>\n", done.stdout)
        self.file("raises.jinja", "{{ raise_exception('no') }}")
        raises = self.wick("m.json", "--template", "t.jinja", "--diff", "raises.jinja")
        self.assertEqual(raises.returncode, 1)
        self.assertIn("+error: no", raises.stdout)

    def test_says_what_a_conversation_is(self):
        for text in ("{}", "7", "[1", ""):
            done = self.wick("--template", "t.jinja", stdin=text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("messages", done.stderr)
        self.assertEqual(self.wick("/no/such", "--template", "t.jinja").returncode, 4)


if __name__ == "__main__":
    unittest.main()
