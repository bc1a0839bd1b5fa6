#!/usr/bin/env python3
"""Holds wick's reading of the files that tiktoken runs against the libraries that run them: Mistral's tekken.json and
tokenizer.model (those that mistral-common ships), and tiktoken files of the families that wick knows, made of the
vocabularies in ~/.cache/wick-test/tokenizers.

    ~/.cache/wick-ref/bin/python tools/parity/tiktoken_diff.py --wick build/release/wick [--megabytes 10]
"""
import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import unicodedata

import mistral_common
import sentencepiece
import tiktoken
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from corpus import some_texts

CACHE = pathlib.Path.home() / ".cache/wick-test/tokenizers"
ENDING = r"'s|'t|'re|'ve|'m|'ll|'d"
QWEN = (rf"(?i:{ENDING})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
KIMI = (rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+(?i:{ENDING})?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*(?i:{ENDING})?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_alphabet():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(0x100 + i): b for i, b in enumerate(others)}


def ranks_of(name):
    file = json.loads((CACHE / name / "tokenizer.json").read_text())
    alphabet, added = byte_alphabet(), {token["content"] for token in file["added_tokens"]}
    return {bytes(alphabet[c] for c in text): rank for text, rank in file["model"]["vocab"].items() if text not in added}


def made(folder, ranks, pattern, tokenizer_class=""):
    folder.mkdir()
    lines = (base64.b64encode(token).decode() + f" {rank}\n" for token, rank in sorted(ranks.items(), key=lambda r: r[1]))
    (folder / "tiktoken.model").write_text("".join(lines))
    if tokenizer_class:
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer_class}))
    encoding = tiktoken.Encoding(folder.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return folder, encoding.encode_ordinary


def cases(folder):
    for path in sorted((pathlib.Path(mistral_common.__file__).parent / "data").iterdir()):
        if path.name.startswith("tekken"):
            tekken = Tekkenizer.from_file(path)
            yield path, lambda text, tekken=tekken: tekken.encode(text, False, False)
        elif ".model" in path.name:
            yield path, sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    llama3 = ranks_of("llama3")
    yield made(folder / "llama3", llama3, LLAMA3)
    yield made(folder / "qwen", ranks_of("qwen2_5"), QWEN)
    yield made(folder / "kimi", {t: r for t, r in llama3.items() if r < 100_000}, KIMI, "TikTokenTokenizer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wick", default="build/release/wick")
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    # Qwen normalizes first, with the Unicode of its Python; texts that are normal say what is wanted of the rest.
    texts = [unicodedata.normalize("NFC", text) for text in some_texts(args.megabytes, args.seed)]
    size, bad = sum(len(text.encode()) for text in texts), 0
    for path, encode in cases(pathlib.Path(tempfile.mkdtemp())):
        run = subprocess.run([args.wick, "tokenize", "-m", str(path), "--null", "--json"], stdout=subprocess.PIPE, check=True,
                             input="".join(text + "\0" for text in texts).encode())
        got = [json.loads(line)["ids"] for line in run.stdout.decode().splitlines()]
        tokens, wrong = 0, []
        for i, text in enumerate(texts):
            wanted = encode(text)
            tokens += len(wanted)
            if i >= len(got) or got[i] != wanted:
                wrong.append(text)
        for text in sorted(wrong, key=len)[:3]:
            print(f"  text {text[:200]!r}…")
        print(f"{path.name}: {len(wrong)} of {len(texts)} texts differ ({size} bytes, {tokens} tokens)", flush=True)
        bad += bool(wrong)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
