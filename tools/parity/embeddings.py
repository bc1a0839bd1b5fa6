#!/usr/bin/env python3
"""Embeddings of the default model by wick's C library and by Hugging Face transformers in float32, with the same (dequantized)
weights: prints the least cosine between both over some texts, for each pooling.

    ~/.cache/wick-ref/bin/python tools/parity/embeddings.py [build/release/libwick.so] [MODEL.gguf]
"""
import argparse
import ctypes
import pathlib

import torch
from transformers import AutoModel, AutoTokenizer

CACHE = pathlib.Path.home() / ".cache/wick-test"
TEXTS = ["The cat sleeps on the warm stone.", "File the tax return by the end of May.", "def add(a, b):\n    return a + b\n",
         "Der Hafen der alten Stadt liegt zwischen zwei Hügeln.", "42", "the same again and again and again " * 20]


def wick_embedding(library, model, text, pooling):
    data = text.encode()
    values = (ctypes.c_float * 8192)()
    n = library.wick_embed(model, data, ctypes.c_size_t(len(data)), pooling.encode(), values, ctypes.c_size_t(8192), None)
    if n < 0:
        raise SystemExit("wick_embed fails")
    return torch.tensor(values[:n])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", default="build/release/libwick.so")
    parser.add_argument("model", nargs="?", type=pathlib.Path, default=CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf")
    args = parser.parse_args()
    library = ctypes.CDLL(str(pathlib.Path(args.library).resolve()))
    library.wick_model_open.restype = ctypes.c_void_p
    library.wick_embed.restype = ctypes.c_ssize_t
    library.wick_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    model = library.wick_model_open(str(args.model).encode(), None, None)
    if not model:
        raise SystemExit("wick_model_open fails")
    at = {"gguf_file": args.model.name}
    tokenizer = AutoTokenizer.from_pretrained(args.model.parent, **at)
    reference = AutoModel.from_pretrained(args.model.parent, **at, dtype=torch.float32)
    for pooling in ("mean", "first", "last"):
        least = 1.0
        for text in TEXTS:
            ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
            with torch.no_grad():
                states = reference(ids).last_hidden_state[0]
            wanted = {"mean": states.mean(0), "first": states[0], "last": states[-1]}[pooling]
            got = wick_embedding(library, model, text, pooling)
            least = min(least, torch.nn.functional.cosine_similarity(got, wanted, dim=0).item())
        print(f"{pooling}: cosine at least {least:.5f} over {len(TEXTS)} texts")


if __name__ == "__main__":
    main()
