#!/usr/bin/env python3
"""A LoRA adapter of PEFT for the tiny model tests/data/model/families/llama, and the logits of transformers and PEFT with it.

  ~/.cache/wick-ref/bin/python tools/goldens/adapters.py [OUT]      OUT: default tests/data/model/adapters/llama

OUT becomes a folder with adapter_model.safetensors, adapter_config.json (rank 3, alpha 7, all matrices of a layer), and logits.bin
(float32 [96, vocab]) of the model's ids.bin. Made with torch 2.13.0, transformers 5.23.0, peft 0.21.2; all seeds are fixed.
"""
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools/parity"))
import numpy as np
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

import adapters
import families

BASE = ROOT / "tests/data/model/families/llama"


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "tests/data/model/adapters/llama")
    model = AutoModelForCausalLM.from_pretrained(BASE, attn_implementation="eager").float().eval()
    ids = np.fromfile(BASE / "ids.bin", "<i4")
    adapted = get_peft_model(model, LoraConfig(r=3, lora_alpha=7, target_modules=adapters.ATTENTION + adapters.GATED))
    adapters.randomize(adapted, 11)
    logits = families.run(adapted, ids)
    adapted.save_pretrained(out)
    (out / "README.md").unlink()
    config = json.loads((out / "adapter_config.json").read_text())
    kept = {key: config[key] for key in ("peft_type", "r", "lora_alpha", "use_rslora", "use_dora", "fan_in_fan_out", "target_modules")}
    kept["target_modules"] = sorted(kept["target_modules"])
    (out / "adapter_config.json").write_text(json.dumps(kept, indent=2) + "\n")
    logits.astype("<f4").tofile(out / "logits.bin")
    for file in out.iterdir():
        file.chmod(0o644)
    print(f"logits up to {abs(logits).max():.1f}, {sum(file.stat().st_size for file in out.iterdir()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
