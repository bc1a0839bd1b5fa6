#!/usr/bin/env python3
"""One tiny random encoder of each kind, with the hidden states that Hugging Face transformers gives for it.

  ~/.cache/wick-ref/bin/python tools/goldens/encoders.py [OUT]      OUT: default tests/data/model/encoders

Each NAME (that of the architecture in GGUF) becomes a folder with model.safetensors and config.json (F32, as transformers
saves them), ids.bin (int32 [96]) and states.bin (float32 [96, width]). bert has a tokenizer of 64 words too, and the files of
sentence-transformers that say how it pools; gemma-embedding has dense layers after pooling, and pooled.bin (float32 [24]) is
what they make of the mean of the states. More configurations are compared live by tools/parity/encoders.py. Made with torch
2.13.0, transformers 5.23.0; all seeds are fixed. Needs no network.
"""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "parity"))
import numpy as np
import torch
from safetensors.torch import save_file

import encoders
import families

SMALL = dict(vocab_size=64, hidden_size=32, intermediate_size=24)
GOLDENS = {"bert": "plain", "nomic-bert": "theta", "gemma-embedding": "window"}  # of six layers


def write_json(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def add_tokenizer(out):
    """WordPiece over w3 … w63, between [CLS] and [SEP]."""
    words = ["[PAD]", "[CLS]", "[SEP]"] + [f"w{i}" for i in range(3, 63)] + ["[UNK]"]
    special = [{"id": i, "content": words[i], "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False} for i in (0, 1, 2, 63)]
    write_json(out / "tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                           "pair": [], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                                                          "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {word: i for i, word in enumerate(words)}}})


def modules(out, *dense):
    entries = [("", "Transformer"), ("1_Pooling", "Pooling")] + [(f"{i + 2}_Dense", "Dense") for i in range(len(dense))]
    entries.append((f"{len(entries)}_Normalize", "Normalize"))
    write_json(out / "modules.json", [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
                                      for i, (path, kind) in enumerate(entries)])
    for i, matrix in enumerate(dense):
        write_json(out / f"{i + 2}_Dense/config.json", {
            "in_features": matrix.shape[1], "out_features": matrix.shape[0], "bias": False,
            "activation_function": "torch.nn.modules.linear.Identity"})
        save_file({"linear.weight": matrix}, out / f"{i + 2}_Dense/model.safetensors")


def pooling(out, mode, width):
    names = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens"]
    write_json(out / "1_Pooling/config.json",
               {"word_embedding_dimension": width, **{f"pooling_mode_{name}": name == mode for name in names}})


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "tests/data/model/encoders")
    for family, variant in GOLDENS.items():
        encoders.FAMILIES[family][2].update(SMALL)
        model = encoders.make_model(family, variant)
        out = root / family
        shutil.rmtree(out, ignore_errors=True)
        model.save_pretrained(out)
        model = type(model).from_pretrained(out, attn_implementation="eager").float().eval()
        ids = families.some_ids(model.config.vocab_size)
        states = encoders.states(model, ids)
        encoders.check_later_tokens_matter(model, ids, states)
        ids.tofile(out / "ids.bin")
        states.astype("<f4").tofile(out / "states.bin")
        if family == "bert":
            add_tokenizer(out)
            pooling(out, "cls_token", states.shape[1])
            modules(out)
        if family == "gemma-embedding":
            dense = [torch.randn(48, 32) * 0.3, torch.randn(24, 48) * 0.3]
            pooling(out, "mean_tokens", states.shape[1])
            modules(out, *dense)
            pooled = torch.tensor(states).mean(0) @ dense[0].T @ dense[1].T
            pooled.numpy().astype("<f4").tofile(out / "pooled.bin")
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(f"{family}: {variant}, states up to {np.abs(states).max():.1f}, {size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
