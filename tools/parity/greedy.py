#!/usr/bin/env python3
"""Holds wick's greedy choices against Hugging Face's, token by token.

    greedy.py WICK MODEL.F32.gguf [tests/data/model/greedy_20x64.json]

Each prompt is continued with Hugging Face's tokens; at each of the 64 positions wick's largest logit must be the token that
Hugging Face took. (If every choice agrees, so does free-running generation.) A difference is a near tie if Hugging Face's own
top two logits are closer than 1e-3; any other difference fails. MODEL.F32.gguf is made by tools/dequantize.py.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

NEAR_TIE = 1e-3


def main():
    wick, model = sys.argv[1:3]
    default = pathlib.Path(__file__).parents[2] / "tests/data/model/greedy_20x64.json"
    cases = json.loads(pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else default).read_text())
    cases = cases["cases"] if isinstance(cases, dict) else cases
    same = ties = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/logits.npy"
        for number, case in enumerate(cases):
            ids = case["ids"] + case["tokens"][:-1]
            subprocess.run([wick, "logits", "-m", model, "--kv-type", "f32", "-o", out, "--ids",
                            ",".join(map(str, ids))], check=True, stderr=subprocess.DEVNULL)
            logits = numpy.load(out, mmap_mode="r")[len(case["ids"]) - 1:]
            for position, (token, gap) in enumerate(zip(case["tokens"], case["gap"], strict=True)):
                chosen = int(logits[position].argmax())
                if chosen == token:
                    same += 1
                    continue
                ties += gap < NEAR_TIE
                wrong += gap >= NEAR_TIE
                print(f"prompt {number}, position {position}: wick {chosen}, Hugging Face {token}, gap {gap}")
    print(f"{len(cases)} prompts: {same} tokens equal, {ties} near ties, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
