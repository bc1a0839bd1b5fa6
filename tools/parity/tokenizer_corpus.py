#!/usr/bin/env python3
"""Holds wick's tokenizers against Hugging Face's on mixed text out of what Debian's packages ship on this machine: catalogues in
all languages, documentation, sources, HTML, JSON, and some base64. Prints the first differences and a line for each file.

    ~/.cache/wick-ref/bin/python tools/parity/tokenizer_corpus.py --wick build/release/wick [--megabytes 100] TOKENIZER.json…
"""
import argparse
import base64
import gettext
import json
import pathlib
import random
import subprocess
import sys

from tokenizers import Tokenizer

PLACES = ["usr/share/doc/**/*", "usr/include/**/*.h", "usr/lib/python3*/**/*.py", "usr/share/perl/**/*.p[lmo]*", "usr/share/vim/**/*",
          "usr/share/**/*.json", "usr/share/**/*.html", "usr/share/**/*.xml", "usr/share/unicode/**/*.txt", "etc/**/*", "usr/share/**/*.sh"]
CHUNK = 4000


def catalogues():
    for path in sorted(pathlib.Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo")):
        try:
            with path.open("rb") as file:
                yield "\n".join(t for t in gettext.GNUTranslations(file)._catalog.values() if isinstance(t, str))
        except (OSError, ValueError, IndexError):
            continue


def files():
    for place in PLACES:
        for path in sorted(pathlib.Path("/").glob(place)):
            try:
                if path.is_file() and path.stat().st_size < 400_000:
                    yield path.read_bytes()
            except OSError:
                continue


def chunks(megabytes, seed):
    rng = random.Random(seed)
    texts = list(catalogues())
    for data in files():
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:
            texts.append(base64.encodebytes(data[:2000]).decode())
    rng.shuffle(texts)
    left, out = megabytes * 1_000_000, []
    for text in texts:
        for at in range(0, len(text), CHUNK):
            part = text[at:at + CHUNK].replace("\0", "")
            out.append(part)
            left -= len(part.encode())
        if left < 0:
            break
    return out


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
