#!/usr/bin/env python3
"""Makes the reference that tools/parity/kl.py compares with: logits of the default model by Hugging Face transformers.

Reads tests/data/model/english.txt (our own prose), writes its token ids to tests/data/model/english_ids.json (committed) and the
logits of every position, one window, float32 [tokens, vocab], to ~/.cache/wick-test/smollm2_logits.npy (0.4 GB, not committed).

  python model_kl.py [MODEL.gguf] [OUT.npy]      # needs: torch 2.13, transformers 5.23, gguf 0.19
"""
import json
import pathlib
import re
import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

CACHE = pathlib.Path.home() / ".cache/wick-test"
DATA = pathlib.Path(__file__).parents[2] / "tests/data/model"


def main():
    model_path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf"
    out_path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else CACHE / "smollm2_logits.npy"
    torch.set_num_threads(1)  # one order of additions, whatever the machine
    source = {"pretrained_model_name_or_path": model_path.parent, "gguf_file": model_path.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32, attn_implementation="eager").eval()
    wrapped = (DATA / "english.txt").read_text().strip()
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", wrapped)  # lines are wrapped for reading only
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert 2000 <= len(ids) <= 2300, len(ids)
    (DATA / "english_ids.json").write_text(json.dumps({"model": model_path.name, "ids": ids}) + "\n")
    with torch.inference_mode():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0].numpy()
    np.save(out_path, logits)
    nll = -torch.log_softmax(torch.from_numpy(logits[:-1]), 1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
    print(f"{out_path}: {logits.shape[0]} positions x {logits.shape[1]}; perplexity of the text {float(nll.mean().exp()):.3f}")


if __name__ == "__main__":
    main()
