#!/usr/bin/env python3
"""wick serve fills a gap between two texts: the answer is that to the tokens which the model was trained on, and ends where they say so."""
# labels: cli
import pathlib
import sys
import tempfile
import unittest

import tiny
from serving import Server, close_at_end

WICK = sys.argv.pop(1)
PREFIX, SUFFIX, MIDDLE, FILE = 252, 253, 254, 255  # ids of the control tokens: instead of four bytes that no text here has
NAMES = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|file_sep|>")


class Infill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name)
        tokens = [*tiny.letters()[:252], *NAMES, "ab", "<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        kinds = [1] * 252 + [3] * 4 + [1] + [3] * 3
        tiny.write_model(pathlib.Path(folder.name) / "code.gguf", tokens=tokens, more=[("tokenizer.ggml.token_type", kinds)])
        self.server = close_at_end(self, Server(self.home, "-m", pathlib.Path(folder.name) / "code.gguf"))

    def post(self, path, body):
        return self.server.json(path, {"model": "code", "temperature": 0, "max_tokens": 12, **body})

    def completed(self, ids):
        return self.post("/v1/completions", {"prompt": ids, "stop_token_ids": [FILE]})["choices"][0]["text"]

    def test_the_three_forms_ask_the_same(self):
        ids = [PREFIX, *b"f(x", SUFFIX, *b")\n", MIDDLE]
        wanted = self.completed(ids)
        self.assertEqual(self.post("/v1/completions", {"prompt": "f(x", "suffix": ")\n"})["choices"][0]["text"], wanted)
        whole = self.post("/infill", {"input_prefix": "f(x", "input_suffix": ")\n", "n_predict": 12})
        self.assertEqual((whole["content"], whole["tokens_evaluated"]), (wanted, len(ids)))
        ollama = {"prompt": "f(x", "suffix": ")\n", "stream": False, "options": {"temperature": 0, "num_predict": 12}}
        self.assertEqual(self.post("/api/generate", ollama)["response"], wanted)

    def test_other_files_and_the_beginning(self):
        body = {"input_prefix": "f(", "input_suffix": ")", "prompt": "y", "input_extra": [{"filename": "g.c", "text": "g;"}]}
        ids = [FILE, *b"g.c\ng;", FILE, *b"file\n", PREFIX, *b"f(", SUFFIX, *b")", MIDDLE, *b"y"]
        self.assertEqual(self.post("/infill", body)["content"], self.completed(ids))

    def test_names_of_control_tokens_are_text(self):
        self.assertEqual(self.post("/infill", {"input_prefix": "<|fim_middle|>", "input_suffix": ""})["tokens_evaluated"], 14 + 3)

    def test_a_model_without_the_tokens_refuses(self):
        error = self.server.json("/infill", {"model": "tiny", "input_prefix": "a"}, status=400)["error"]
        self.assertEqual((error["code"], error["param"]), ("infill_unsupported", "model"))


if __name__ == "__main__":
    unittest.main(verbosity=0)
