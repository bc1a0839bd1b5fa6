#!/usr/bin/env python3
"""Holds wick's reading of tokenizer.model against SentencePiece's own: trains a model of each kind on mixed text
(tools/parity/corpus.py), has both encode the same texts, and prints a line for each model. The models are kept in FOLDER for
other checks.

    ~/.cache/wick-ref/bin/python tools/parity/sentencepiece_diff.py --wick build/release/wick [--megabytes 10] [FOLDER]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import sentencepiece

from corpus import some_texts

SYMBOLS = ["<sep>", "://", "the ", "日本"]
KINDS = {  # name: what the trainer is told
    "unigram nmt_nfkc": dict(model_type="unigram"),
    "unigram bytes": dict(model_type="unigram", byte_fallback=True, character_coverage=0.99),
    "unigram nfkc_cf symbols": dict(model_type="unigram", normalization_rule_name="nmt_nfkc_cf", user_defined_symbols=SYMBOLS),
    "unigram identity": dict(model_type="unigram", normalization_rule_name="identity", remove_extra_whitespaces=False,
                             add_dummy_prefix=False, split_by_whitespace=False),
    "unigram suffix": dict(model_type="unigram", treat_whitespace_as_suffix=True),
    "bpe nmt_nfkc": dict(model_type="bpe", character_coverage=0.99),
    "bpe bytes identity": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", split_digits=True,
                               remove_extra_whitespaces=False, allow_whitespace_only_pieces=True),
    "bpe symbols": dict(model_type="bpe", byte_fallback=True, user_defined_symbols=SYMBOLS, add_dummy_prefix=False),
    "char": dict(model_type="char", character_coverage=0.99),
    "word": dict(model_type="word"),
}


def train(name, options, texts, folder):
    path = folder / (name.replace(" ", "_") + ".model")
    if not path.exists():
        lines = [line for text in texts for line in text.splitlines() if line.strip()]
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=str(path.with_suffix("")), num_threads=1, minloglevel=2,
            **{"vocab_size": 6000, "hard_vocab_limit": False, "max_sentence_length": 20000, **options})
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wick", default="build/release/wick")
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of the kinds")
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    args = parser.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    texts = list(some_texts(args.megabytes, args.seed))
    size = sum(len(text.encode()) for text in texts)
    bad = 0
    for name, options in KINDS.items():
        if args.only not in name:
            continue
        path = train(name, options, some_texts(1, args.seed + 1), folder)
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        run = subprocess.run([args.wick, "tokenize", "-m", str(path), "--null", "--json"], stdout=subprocess.PIPE, check=True,
                             input="".join(text + "\0" for text in texts).encode())
        got = [json.loads(line)["ids"] for line in run.stdout.decode().splitlines()]
        wrong, tokens = [], 0
        for i, text in enumerate(texts):
            wanted = theirs.encode(text)
            tokens += len(wanted)
            if i >= len(got) or got[i] != wanted:
                wrong.append((text, wanted, got[i] if i < len(got) else None))
        for text, wanted, ours in sorted(wrong, key=lambda w: len(w[0]))[:3]:
            at = next((i for i, (a, b) in enumerate(zip(wanted, ours or [])) if a != b), 0)
            print(f"  text {text[:200]!r}… at token {at}: {theirs.id_to_piece(wanted[max(0, at - 3):at + 6])}, "
                  f"wick {theirs.id_to_piece((ours or [])[max(0, at - 3):at + 6])}")
        print(f"{name}: {len(wrong)} of {len(texts)} texts differ ({size} bytes, {tokens} tokens)", flush=True)
        bad += bool(wrong)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
