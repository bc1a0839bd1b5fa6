#!/usr/bin/env python3
"""Perplexity of the default model over a fixed English text of 40 kB, by wick and by Hugging Face transformers in float32.

The text is our own prose (tests/data/model/english.txt), then the Declaration of Independence and as much of the Constitution of
the United States as fills 40,000 bytes: public domain, from Debian's package miscfiles. It is cut into windows of 1,024 tokens; each
token but a window's first is predicted. Beside the perplexities stand their ratio and the mean KL(transformers || wick).

  python perplexity.py build/release/wick [MODEL.gguf]      # needs: torch 2.13, transformers 5.23, gguf 0.19, apt-get; 2 minutes
"""
import argparse
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from kl import log_softmax  # noqa: E402

CACHE = pathlib.Path.home() / ".cache/wick-test"
ENGLISH = pathlib.Path(__file__).parents[2] / "tests/data/model/english.txt"
BYTES = 40_000
SHA256 = "ee751938615c85aa7b6e7f4b58452f9dd3ca2e7797d9b1a337d71769a42888b8"
WINDOW = 1024


def unwrap(text):
    """Lines are wrapped for reading only."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text.strip())


def fixed_text(work):
    subprocess.run(["apt-get", "download", "-qq", "miscfiles"], cwd=work, check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["dpkg-deb", "-x", next(work.glob("miscfiles*.deb")), work / "miscfiles"], check=True)
    parts = [ENGLISH.read_text()]
    for name in ("us-declaration", "us-constitution"):
        parts.append(gzip.decompress((work / f"miscfiles/usr/share/state/{name}.gz").read_bytes()).decode("ascii"))
    text = "\n\n".join(unwrap(part) for part in parts).encode()[:BYTES]
    seen = hashlib.sha256(text).hexdigest()
    if seen != SHA256:
        sys.exit(f"the text has SHA-256 {seen}, wanted {SHA256}: another version of miscfiles?")
    return text.decode()


def wick_logits(wick, model, ids, out):
    (out.parent / "ids").write_text(",".join(map(str, ids)))
    subprocess.run([wick, "logits", "-m", model, "--ids-file", out.parent / "ids", "-o", out], check=True, stdout=subprocess.DEVNULL)
    return np.load(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wick")
    parser.add_argument("model", nargs="?", type=pathlib.Path, default=CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf")
    args = parser.parse_args()
    torch.set_num_threads(1)  # one order of additions, whatever the machine
    source = {"pretrained_model_name_or_path": args.model.parent, "gguf_file": args.model.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    reference = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32, attn_implementation="eager").eval()
    loss, kl = {"transformers": [], "wick": []}, []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        ids = tokenizer.encode(fixed_text(work), add_special_tokens=False)
        for begin in range(0, len(ids), WINDOW):
            window = ids[begin:begin + WINDOW]
            if len(window) < 2:
                continue
            with torch.inference_mode():
                theirs = log_softmax(reference(torch.tensor([window]), use_cache=False).logits[0].numpy())
            ours = log_softmax(wick_logits(args.wick, args.model, window, work / "logits.npy"))
            kl.append((np.exp(theirs) * (theirs - ours)).sum(axis=1))
            for name, p in (("transformers", theirs), ("wick", ours)):
                loss[name].append(-p[np.arange(len(window) - 1), window[1:]])
    perplexity = {name: float(np.exp(np.concatenate(parts).mean())) for name, parts in loss.items()}
    print(f"{len(ids)} tokens: perplexity {perplexity['wick']:.4f} by wick, {perplexity['transformers']:.4f} by transformers in float32, "
          f"ratio {perplexity['wick'] / perplexity['transformers']:.5f}; mean KL {np.concatenate(kl).mean():.6f}")


if __name__ == "__main__":
    main()
