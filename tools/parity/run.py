#!/usr/bin/env python3
"""Holds `wick logits` against Hugging Face transformers, live: makes the tiny models of
tools/goldens/model_tiny.py anew and compares every logit, from safetensors and from GGUF.

  ~/.cache/wick-ref/bin/python tools/parity/run.py build/release/wick

Prints a line for each model; exits 1 if a logit differs by more than 2e-4 or the two files of a model do
not give the same bits, on any of 1 and 2 threads.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TOOLS = pathlib.Path(__file__).parents[1]
LIMIT = 2e-4


def logits(wick, model, ids, threads, out):
    done = subprocess.run([wick, "logits", "-m", model, "--ids", ",".join(map(str, ids)), "--kv-type", "f32",
                           "-t", str(threads), "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model}: {done.stderr}")
    return np.load(out)


def main():
    wick = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/wick").resolve()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run([sys.executable, TOOLS / "goldens/model_tiny.py", root / "models"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        models = sorted((root / "models").iterdir())
        for model in models:
            ids = np.fromfile(model / "ids.bin", "<i4")
            want = np.fromfile(model / "logits.bin", "<f4").reshape(len(ids), -1)
            got = logits(wick, model, ids, 1, root / "out.npy")
            others = [logits(wick, path, ids, threads, root / "out.npy")
                      for path, threads in ((model / "model.gguf", 1), (model, 2))]
            worst = float(np.abs(got - want).max())
            is_same = all(other.tobytes() == got.tobytes() for other in others)
            is_good = got.shape == want.shape and worst <= LIMIT and is_same
            failures += not is_good
            print(f"{'ok  ' if is_good else 'FAIL'} {model.name:20} {got.shape[0]} positions, "
                  f"worst difference {worst:.1e}, GGUF and safetensors {'same bits' if is_same else 'DIFFER'}")
        print(f"{len(models) - failures} of {len(models)} models agree with transformers")
    sys.exit(1 if failures or not models else 0)


if __name__ == "__main__":
    main()
