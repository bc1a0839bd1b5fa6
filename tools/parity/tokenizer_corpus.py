#!/usr/bin/env python3
"""Holds wick's tokenizers against Hugging Face's on mixed text out of what Debian's packages ship on this machine: catalogues in
all languages, documentation, sources, HTML, JSON, and some base64. Prints the first differences and a line for each file.

    ~/.cache/wick-ref/bin/python tools/parity/tokenizer_corpus.py --wick build/release/wick [--megabytes 100] TOKENIZER.json…
"""
import argparse
import json
import pathlib
import subprocess
import sys

from tokenizers import Tokenizer

from debian_text import chunks

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--wick", default="build/release/wick", help="the program, or another that takes its flags")
parser.add_argument("--megabytes", type=int, default=100)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("tokenizers", type=pathlib.Path, nargs="+")
args = parser.parse_args()
texts = chunks(args.megabytes, args.seed)
size, bad = sum(len(t.encode()) for t in texts), 0
for path in args.tokenizers:
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    run = subprocess.Popen([args.wick, "tokenize", "-m", str(path), "--null", "--json"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    answer = run.communicate("".join(t + "\0" for t in texts).encode())[0].decode().splitlines()
    n_wrong = n_tokens = 0
    for begin in range(0, len(texts), 500):
        part = texts[begin:begin + 500]
        for i, wanted in enumerate(theirs.encode_batch_fast(part, add_special_tokens=False), begin):
            n_tokens += len(wanted.ids)
            if json.loads(answer[i])["ids"] != wanted.ids:
                n_wrong += 1
                if n_wrong <= 3:
                    print(f"text {texts[i][:300]!r}…")
    print(f"{path.parent.name}: {n_wrong} of {len(texts)} texts differ ({size} bytes, {n_tokens} tokens)", flush=True)
    bad += bool(n_wrong)
sys.exit(bool(bad))
