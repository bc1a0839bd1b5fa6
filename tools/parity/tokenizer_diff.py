#!/usr/bin/env python3
"""Holds wick's tokenizer against Hugging Face's on random text: both encode the same strings, and every difference is
printed (the shortest first).

    ~/.cache/wick-ref/bin/python tools/parity/tokenizer_diff.py --wick build/release/wick \\
        -m MODEL_OR_TOKENIZER_FILE [--reference tokenizer.json] [-n 20000] [--seed 1] [--special]

MODEL is handed to `wick tokenize -m MODEL [--special] --null --json`. The reference is MODEL itself when that is a
tokenizer.json; for a .gguf, the vocabulary is read by transformers, and a pre-tokenizer that transformers leaves out
(smollm splits digits) is put back.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

from random_text import random_text
from tokenizers import Tokenizer, pre_tokenizers


def reference_of(model):
    if model.suffix == ".json":
        return Tokenizer.from_file(str(model))
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(model.parent), gguf_file=model.name).backend_tokenizer
    if b"smollm" in model.open("rb").read(4096):
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wick", default="build/release/wick", help="the program, or another that takes its flags")
    parser.add_argument("-m", "--model", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--special", action="store_true", help="control tokens are recognized")
    args = parser.parse_args()

    tokenizer = reference_of(args.reference or args.model)
    added = tokenizer.get_added_tokens_decoder().values()
    # Without --special, Hugging Face takes control tokens for text too; user-defined ones it always recognizes.
    tokenizer.encode_special_tokens = not args.special
    rng = random.Random(args.seed)
    specials = [token.content for token in added][:64]
    texts = [random_text(rng, specials) for _ in range(args.n)]
    expected = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]

    command = [args.wick, "tokenize", "-m", str(args.model), "--null", "--json"] + ["--special"] * args.special
    run = subprocess.run(command, input="".join(t + "\0" for t in texts).encode(), stdout=subprocess.PIPE, check=True)
    got = [json.loads(line)["ids"] for line in run.stdout.decode().splitlines()]
    if len(got) != len(texts):
        sys.exit(f"wick answered {len(got)} lines for {len(texts)} texts")

    wrong = sorted((i for i in range(args.n) if got[i] != expected[i]), key=lambda i: len(texts[i]))
    for i in wrong[:10]:
        print(f"text     {texts[i]!r}\n  expected {expected[i]}\n  wick     {got[i]}")
    tokens = sum(map(len, expected))
    print(f"{args.model.name}: {len(wrong)} of {args.n} texts differ ({tokens} tokens, seed {args.seed})")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
