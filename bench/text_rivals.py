#!/usr/bin/env python3
"""wick's tokenizer beside Hugging Face's tokenizers and tiktoken: one thread each, the same documents, taking turns in the
same run; processor time.

    PYTHON bench/text_rivals.py --tokenizer TOKENIZER.json --text FILE [--text FILE]… [--bench build/release/bench_text]

PYTHON has the packages tokenizers and, for byte-level tokenizers, tiktoken. Hugging Face's runs in its fastest batch mode
(encode_batch_fast) on one thread; tiktoken gets the vocabulary and the pattern out of the same file. Before anything is
measured, the number of tokens is compared.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers

try:
    import tiktoken
except ImportError:
    tiktoken = None

ROUNDS = 5


def documents(path, size):
    data, docs, at = path.read_bytes(), [], 0
    while at < len(data):
        end = data.find(b"\n", at + size) + 1 if len(data) - at > size else 0
        end = end or len(data)
        docs.append(data[at:end].decode())
        at = end
    return docs


def byte_alphabet():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(0x100 + i): b for i, b in enumerate(others)}


def tiktoken_of(path):
    file = json.loads(path.read_text())
    pattern = re.search(r'"Regex": *("(?:[^"\\]|\\.)*")', json.dumps(file["pre_tokenizer"]))
    if tiktoken is None or not pattern:
        return None
    alphabet = byte_alphabet()
    added = {token["content"] for token in file["added_tokens"]}
    ranks = {bytes(alphabet[c] for c in text): rank for text, rank in file["model"]["vocab"].items() if text not in added}
    return tiktoken.Encoding("rival", pat_str=json.loads(pattern[1]), mergeable_ranks=ranks, special_tokens={})


def speed(work, size):
    work()
    values = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        values.append(size / (time.process_time() - start) * 1e-6)
    return statistics.median(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--text", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--bench", default="build/release/bench_text")
    parser.add_argument("--doc-bytes", type=int, default=8192)
    args = parser.parse_args()
    theirs = tokenizers.Tokenizer.from_file(str(args.tokenizer))
    rival = tiktoken_of(args.tokenizer)
    for path in args.text:
        docs, size = documents(path, args.doc_bytes), path.stat().st_size
        n_tokens = sum(len(e.ids) for e in theirs.encode_batch_fast(docs, add_special_tokens=False))
        n_rival = sum(map(len, map(rival.encode_ordinary, docs))) if rival else 0
        hf = speed(lambda: theirs.encode_batch_fast(docs, add_special_tokens=False), size)
        tik = speed(lambda: [rival.encode_ordinary(doc) for doc in docs], size) if rival else 0
        lines = subprocess.run([args.bench, "--tokenizer", args.tokenizer, "--text", path, "--doc-bytes", str(args.doc_bytes),
                                "--rounds", str(ROUNDS), "--json"], stdout=subprocess.PIPE, check=True).stdout.decode()
        ours = next(r["value"] for r in map(json.loads, lines.splitlines()) if r["case"].startswith("encode"))
        beside = f", tiktoken {tiktoken.__version__} {tik:6.2f} MB/s ({ours / tik:.1f}x, {n_rival} tokens)" if rival else ""
        print(f"{args.tokenizer.parent.name} {path.name}: wick {ours:6.2f} MB/s, tokenizers {tokenizers.__version__} {hf:6.2f} MB/s "
              f"({ours / hf:.1f}x, {n_tokens} tokens){beside}", flush=True)


if __name__ == "__main__":
    main()
