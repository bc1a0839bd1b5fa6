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

from tokenizers import Tokenizer, pre_tokenizers

WORDS = ("the and of to in that is was he for it with as his on be at by had not are but from or have an they which one you "
         "were all her she there would their we him been has when who will no more if out so what up said its about than "
         "into them can only other time new some could these two may first then do any like my now over such our man me "
         "even most made after also did many off before must well back through years much where your way down should "
         "isn't we'll they've I'M DON'T y'all's naïve café Straße Ελλάδα Москва привет 日本語 テスト 中文 한국어 สวัสดี "
         "العربية עברית हिन्दी int main() { return 0; } def f(x): x+=1 != == -> :: // /* */ #include <vector> "
         "https://example.com/a?b=c&d=%20 1e-5 3.14159 0xDEADBEEF 1,234,567.89 12:34:56 2026-11-21").split(" ")
RANGES = [(0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0x80, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x3FF),
          (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF),
          (0x2000, 0x206F), (0x2070, 0x21FF), (0x2C00, 0x2DFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xA640, 0xA7FF),
          (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFD), (0x10000, 0x107FF),
          (0x11000, 0x11FFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0x2EBF0, 0x323AF),
          (0xE0000, 0xE01EF), (0x10FF00, 0x10FFFF)]
SPACES = ["\x20", "\x20", "\x20\x20", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u3000", "\u200b", "\u180e", "\u0085", "\v", "\f",
          "\u2028", "\u1680"]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "1️⃣", "☃", "\U0001fadc"]
SUFFIXES = ["'s", "'T", "'re", "'VE", "'m", "'Ll", "'d", "'\u017f", "\u2019s", "''s", "'", " 's"]
DIGITS = ["1", "12", "123", "1234", "12345678", "٣", "२४", "Ⅷ", "½", "²", "①", "〇", "1.5", " 7", "\U0001d7d8"]


def random_character(rng):
    low, high = rng.choice(RANGES)
    return chr(rng.randint(low, high))


def random_text(rng, specials):
    parts = []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 21, 40))):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(("", " ", " ", " ", "  ")) + rng.choice(WORDS))
        elif kind < 0.50:
            parts.append(rng.choice(SPACES) * rng.choice((1, 1, 2, 3, 7, 30)))
        elif kind < 0.62:
            parts.append("".join(random_character(rng) for _ in range(rng.randint(1, 8))))
        elif kind < 0.70:
            low, high = rng.choice(RANGES)
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 12))))
        elif kind < 0.76:
            parts.append(rng.choice(DIGITS))
        elif kind < 0.82:
            parts.append(rng.choice(SUFFIXES))
        elif kind < 0.87:
            parts.append(rng.choice(EMOJI))
        elif kind < 0.92:
            parts.append(rng.choice("aZ .,!?-_=*#/<>|▁\n\té가") * rng.randint(1, 40))
        elif kind < 0.96:
            parts.append(rng.choice(("<|", "|>", "<", ">", "</s", "<0x0A>", "<s", "▁", "Ġ", "Ċ", "[INST]", "<|im_", "_end|>")))
        elif specials:
            parts.append(rng.choice(specials))
    return "".join(parts).replace("\0", "")


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
    parser.add_argument("--special", action="store_true", help="control tokens are recognised")
    args = parser.parse_args()

    tokenizer = reference_of(args.reference or args.model)
    added = tokenizer.get_added_tokens_decoder().values()
    # Without --special, Hugging Face takes control tokens for text too; user-defined ones it always recognises.
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
