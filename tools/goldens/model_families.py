#!/usr/bin/env python3
"""One tiny random model of each dense family, and of some others, with the logits that Hugging Face transformers gives for it.

  ~/.cache/wick-ref/bin/python tools/goldens/model_families.py [OUT [FAMILY...]]      OUT: default tests/data/model/families

Each NAME (that of the architecture in GGUF) becomes a folder with model.safetensors and config.json (F32, as transformers
saves them), ids.bin (int32 [96]) and logits.bin (float32 [96, vocab]). More configurations, also as GGUF, are compared live
by tools/parity/models.py. Made with torch 2.13.0, transformers 5.23.0; all seeds are fixed. Needs no network.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "parity"))
import experts
import families

SMALL = dict(vocab_size=64, hidden_size=32, intermediate_size=24)
GOLDENS = {  # family: variant
    "llama": "dynamic", "olmo2": "gqa", "gemma": "gqa", "gemma2": "gqa", "gemma3": "types", "gemma4": "all", "smollm3": "yarn", "phi2": "gqa",
    "phi3": "long_partial", "starcoder2": "window", "stablelm": "parallel", "granite": "gqa", "command-r": "qk_norm",
    "cohere2": "gqa", "glm4": "gqa", "mistral3": "hotter", "qwen2": "window", "qwen3": "llama3"}
EXPERT_GOLDENS = {"gpt-oss": "gpt-oss_types", "qwen35": "qwen35_half", "qwen35moe": "qwen35moe_half"}  # of tools/parity/experts.py


def write(out, model):
    """The model, a text and its logits."""
    ids = families.some_ids(model.config.vocab_size)
    logits = families.run(model, ids)
    shutil.rmtree(out, ignore_errors=True)
    model.save_pretrained(out)
    (out / "generation_config.json").unlink(missing_ok=True)
    ids.tofile(out / "ids.bin")
    logits.astype("<f4").tofile(out / "logits.bin")
    for file in out.iterdir():
        file.chmod(0o644)
    size = sum(file.stat().st_size for file in out.iterdir())
    print(f"{out.name}: logits up to {abs(logits).max():.1f}, {size / 1000:.0f} kB", flush=True)
    return ids, logits


def main():
    only = sys.argv[2:]
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "tests/data/model/families")
    for family, variant in GOLDENS.items():
        if only and family not in only:
            continue
        # Phi 3 has lists as long as its heads: it stays as wide as it is.
        families.BASE.update(SMALL if family != "phi3" else dict(SMALL, hidden_size=64))
        model = families.make_model(family, variant)
        families.check_it_matters(family, variant, model, *write(root / family, model))
    for family, name in EXPERT_GOLDENS.items():
        if not only or family in only:
            write(root / family, experts.make_model(name))


if __name__ == "__main__":
    main()
