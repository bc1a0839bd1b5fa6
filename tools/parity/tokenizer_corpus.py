#!/usr/bin/env python3
"""Holds wick's tokenizers against their origin on over 100 MB of mixed text and 1,000,000 random strings (tools/parity/corpus.py
makes both): prints a line for each tokenizer and kind of text, and the first differences, shrunk.

    ~/.cache/wick-ref/bin/python tools/parity/tokenizer_corpus.py [--wick build/release/wick] [--reference-only] [NAME|FILE…]

A NAME is a folder of ~/.cache/wick-test/tokenizers (tools/fetch_test_data --all-tokenizers), whose tokenizer.json the tokenizers
package reads, or a file that mistral-common ships and reads itself; without any, all of both. What the origin answers is kept as a
hash for each 64 KB of text beside the corpus, so that only the first run takes long (some minutes for each tokenizer). The second
half of the strings is read with control tokens recognized, but mistral-common recognizes none in a text. Where plain merges make
a control token out of its name (internlm2's <s>), wick has its pieces on purpose; texts with such names are left out and counted.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("RAYON_NUM_THREADS", "1")

import mistral_common  # noqa: E402
import numpy as np  # noqa: E402
import sentencepiece  # noqa: E402
from corpus import FOLDER  # noqa: E402
from mistral_common.tokens.tokenizers.tekken import Tekkenizer  # noqa: E402
from random_text import SPECIAL  # noqa: E402
from tokenizers import AddedToken, Tokenizer  # noqa: E402

BLOCK = 65536
MISTRAL = pathlib.Path(mistral_common.__file__).parent / "data"
KINDS = [("corpus", False), ("strings", False), ("strings", True)]


class HuggingFace:
    recognizes_control = True

    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(str(path))
        config = path.parent / "tokenizer_config.json"
        listed = json.loads(config.read_text()).get("added_tokens_decoder", {}) if config.exists() else {}
        known = {token.content for token in self.tokenizer.get_added_tokens_decoder().values()}
        more = {int(id): token for id, token in listed.items() if token["content"] not in known}
        self.tokenizer.add_tokens([AddedToken(**token) for token in more.values()])  # as transformers does
        # The package gives them the next free ids; the file says which they have.
        self.listed_ids = {self.tokenizer.token_to_id(token["content"]): id for id, token in more.items()}
        self.beside = json.dumps(more) if more else ""
        names = [token["content"] for token in listed.values() if token.get("special")]
        self.merged_control = [name for name, ids in zip(names, self.encode(names, False)) if len(ids) == 1]

    def added(self):
        return [token.content for token in self.tokenizer.get_added_tokens_decoder().values()]

    def encode(self, texts, special):
        self.tokenizer.encode_special_tokens = not special
        rows = [e.ids for e in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        return [[self.listed_ids.get(id, id) for id in ids] for ids in rows] if self.listed_ids else rows


class Mistral:
    recognizes_control = False
    beside = ""
    merged_control = []

    def __init__(self, path):
        if path.suffix == ".json":
            tekken = Tekkenizer.from_file(path)
            self.one = lambda text: tekken.encode(text, False, False)
        else:
            self.one = sentencepiece.SentencePieceProcessor(model_file=str(path)).encode

    def added(self):
        return []

    def encode(self, texts, special):
        return [self.one(text) for text in texts]


class Wick:
    def __init__(self, program, path):
        self.command = [program, "tokenize", "-m", str(path), "--null", "--json"]

    def encode(self, texts, special):
        with tempfile.TemporaryFile() as file:
            file.write("".join(text + "\0" for text in texts).encode())
            file.seek(0)
            with subprocess.Popen(self.command + ["--special"] * special, stdin=file, stdout=subprocess.PIPE) as run:
                for line in run.stdout:
                    answer = json.loads(line)
                    if "error" in answer:
                        raise RuntimeError(answer["error"]["message"])
                    yield answer["ids"]


def read(kind, special, added):
    """The texts of a kind; where control tokens are recognized, the second half of the strings."""
    texts = (FOLDER / f"{kind}.txt").read_bytes().decode().split("\0")[:-1]
    if kind == "corpus":
        return texts
    half = texts[len(texts) // 2:] if special else texts[:len(texts) // 2]
    turn = iter(range(1 << 60))
    some = added[:64] or [""]
    return re.sub(SPECIAL, lambda _: some[next(turn) % len(some)], "\0".join(half)).split("\0")


def blocks(texts):
    begin = size = 0
    for i, text in enumerate(texts):
        size += len(text)
        if size >= BLOCK or i + 1 == len(texts):
            yield begin, i + 1
            begin, size = i + 1, 0


def digest(ids):
    return hashlib.blake2b(b"".join(np.asarray(x + [-1], "<i4").tobytes() for x in ids), digest_size=8).digest()


def reference_digests(reference, path, texts, special, name):
    key = hashlib.blake2b(path.read_bytes() + reference.beside.encode() + "\0".join(texts).encode(), digest_size=8).hexdigest()
    kept = FOLDER / "reference" / f"{name}.{key}"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        tokens, out = 0, []
        for begin, end in blocks(texts):
            ids = reference.encode(texts[begin:end], special)
            tokens += sum(map(len, ids))
            out.append(digest(ids))
        part = kept.with_suffix(".part")
        part.write_bytes(tokens.to_bytes(8, "little") + b"".join(out))
        part.rename(kept)
    data = kept.read_bytes()
    return int.from_bytes(data[:8], "little"), [data[i:i + 8] for i in range(8, len(data), 8)]


def shrink(text, differs):
    """A short text that still differs: parts are left out as long as one can be."""
    size = len(text) // 2
    while size > 0:
        candidates = [text[:i] + text[i + size:] for i in range(0, len(text), size)]
        found = next((c for c, bad in zip(candidates, differs(candidates)) if bad), None) if len(text) > 1 else None
        text, size = (found, min(size, max(1, len(found) // 2))) if found else (text, size // 2)
    return text


def show(reference, wick, texts, special):
    def differs(some):
        return [a != b for a, b in zip(reference.encode(some, special), wick.encode(some, special), strict=True)]
    bad = [text for text, is_bad in zip(texts, differs(texts)) if is_bad]
    for text in sorted(bad, key=len)[:2]:
        text = shrink(text, differs)
        print(f"  text   {text!r}\n  origin {reference.encode([text], special)[0][:40]}\n  wick   {next(wick.encode([text], special))[:40]}")
    return len(bad)


def compare(program, path, name, reference_only):
    reference, wick, is_bad = (Mistral if path.parent == MISTRAL else HuggingFace)(path), Wick(program, path), False
    list(wick.encode(["text"], False))  # fails where the file is not for wick
    for kind, special in KINDS:
        label = f"{name}: {kind}" + (", second half" if special else "")
        texts = read(kind, special, reference.added())
        n_read = len(texts)
        texts = [text for text in texts if not any(name in text for name in reference.merged_control)]
        tokens, wanted = reference_digests(reference, path, texts, special, f"{name}.{kind}{'.special' * special}")
        size = sum(len(text.encode()) for text in texts)
        if reference_only:
            print(f"{label}: {size} bytes, {tokens} tokens", flush=True)
            continue
        special = special and reference.recognizes_control
        got, wrong = wick.encode(texts, special), []
        for (begin, end), expected in zip(blocks(texts), wanted, strict=True):
            if digest([next(got) for _ in range(begin, end)]) != expected:
                wrong.append((begin, end))
        n_texts = sum(show(reference, wick, texts[begin:end], special) if i < 3 else end - begin for i, (begin, end) in enumerate(wrong))
        more = f" (at most: of {len(wrong)} blocks three were looked into)" if len(wrong) > 3 else ""
        print(f"{label}: {n_texts} of {len(texts)} texts differ{more} ({size} bytes, {tokens} tokens"
              f"{f'; {n_read - len(texts)} with {reference.merged_control} left out' * (len(texts) < n_read)})", flush=True)
        is_bad = is_bad or bool(wrong)
    return is_bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wick", default="build/release/wick", help="the program, or another that takes its flags")
    parser.add_argument("--reference-only", action="store_true", help="only make what the origin answers")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    here = FOLDER.parent / "tokenizers"
    bad = []
    all_names = sorted(p.parent.name for p in here.glob("*/tokenizer.json")) + sorted(p.name for p in MISTRAL.iterdir())
    for name in args.names or all_names:
        files = [here / name / "tokenizer.json", MISTRAL / name, pathlib.Path(name)]
        path = next((file for file in files if file.exists()), files[-1])
        shown = name if path in files[:2] else path.parent.name
        try:
            if compare(args.wick, path, shown, args.reference_only):
                bad.append(shown)
        except RuntimeError as error:
            print(f"{shown}: {error}", flush=True)
            bad.append(shown)
    print("differ or fail: " + ", ".join(bad) if bad else "all agree")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
