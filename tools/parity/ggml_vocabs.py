#!/usr/bin/env python3
"""Holds wick's tokenizer against the expected ids that llama.cpp ships with its vocabularies (models/ggml-vocab-*.gguf with
.inp and .out beside them; tools/peer_llama.sh unpacks them). A vocabulary without expectations must load.

    python3 tools/parity/ggml_vocabs.py [--wick build/release/wick] [FOLDER]
"""
import argparse
import json
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--wick", default="build/release/wick", help="the program, or another that takes its flags")
parser.add_argument("folder", type=pathlib.Path, nargs="?",
                    default=pathlib.Path.home() / ".cache/wick-peers/llama.cpp-0.3.36/src/models")
args = parser.parse_args()
bad = 0
for model in sorted(args.folder.glob("ggml-vocab-*.gguf")):
    inputs = pathlib.Path(f"{model}.inp")
    texts = inputs.read_bytes().split(b"\n__ggml_vocab_test__\n")[:-1] if inputs.exists() else [b"text"]
    run = subprocess.run([args.wick, "tokenize", "-m", str(model), "--null", "--json"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, input=b"".join(text + b"\0" for text in texts))
    if run.returncode != 0:
        print(f"{model.name}: {run.stderr.decode().strip()}")
        bad += 1
        continue
    got = [json.loads(line)["ids"] for line in run.stdout.decode().splitlines()]
    if not inputs.exists():
        print(f"{model.name}: loads")
        continue
    wanted = [list(map(int, line.split())) for line in pathlib.Path(f"{model}.out").read_text().splitlines()]
    wrong = [i for i in range(len(texts)) if i >= len(got) or got[i] != wanted[i]]
    for i in wrong[:5]:
        print(f"  text {texts[i]!r}\n    expected {wanted[i]}\n    wick     {got[i] if i < len(got) else None}")
    print(f"{model.name}: {len(wrong)} of {len(texts)} texts differ")
    bad += bool(wrong)
sys.exit(bool(bad))
