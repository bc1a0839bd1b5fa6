#!/usr/bin/env python3
"""The bytes of cache per token that `wick model info` shows are those that a loaded model has allocated (`wick estimate`), for each family."""
# labels: cli
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
FAMILIES = pathlib.Path(__file__).resolve().parents[1] / "data/model/families"
CONTEXTS = 2048, 4096  # beyond all windows


def give_tokenizer(folder):
    """These checkpoints have none: one token for each byte, and names for what the vocabulary has more or less."""
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    names = tiny.letters() + [f"<{i}>" for i in range(256, size)]
    model = {"type": "BPE", "vocab": {name: i for i, name in enumerate(names[:size])}, "merges": []}
    pieces = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": pieces, "post_processor": None, "decoder": pieces,
        "model": model}))


class ModelMemory(unittest.TestCase):
    def test_the_cache_grows_by_what_model_info_shows(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home = tiny.Home(WICK, folder.name)
        shares = set()
        for source in sorted(FAMILIES.iterdir()):
            model = pathlib.Path(folder.name) / source.name
            model.mkdir()
            for name in ("config.json", "model.safetensors"):
                shutil.copy(source / name, model / name)
            give_tokenizer(model)
            info = json.loads(home.wick("model", "info", model, "--json").stdout)
            for kind, cost in info["cache"].items():
                with self.subTest(family=source.name, kind=kind):
                    few, many = (json.loads(home.wick("estimate", model, "--json", "--kv-type", kind, "-c", str(n)).stdout)["cache_bytes"]
                                 for n in CONTEXTS)
                    grown = many - few
                    if cost["bytes_per_token"] == 0:  # windows in all layers: its memory is bounded
                        self.assertEqual(grown, 0)
                        continue
                    self.assertEqual(grown % (cost["bytes_per_token"] * (CONTEXTS[1] - CONTEXTS[0])), 0)
                    shares.add(grown // cost["bytes_per_token"])
        self.assertEqual(len(shares), 1, "the engine has room for as many tokens of each family")


if __name__ == "__main__":
    unittest.main(verbosity=0)
