#!/usr/bin/env python3
"""Compares wick's logits with LoRA adapters with those of PEFT, live: tiny random models of several families (families.py,
experts.py), 96 tokens, the model from safetensors and from GGUF, each with the adapter from PEFT's folder and from the GGUF file
that llama.cpp's convert_lora_to_gguf.py makes of it; two adapters at once, at scales other than 1. Adapters of experts are compared as PEFT
writes them (target_parameters) and as a module for each matrix, of which the converter makes stacks.

  ~/.cache/wick-ref/bin/python tools/parity/adapters.py build/release/wick [--converter DIR] [--only FAMILY]

DIR is llama.cpp's source (tools/peer_llama.sh fetches it). The largest absolute difference may be 3e-4. Needs what models.py needs, and peft.
"""
import argparse
import json
import logging
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file

import experts
import families
import models

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
GATED = ["gate_proj", "up_proj", "down_proj"]
# name: (family, variant, module names, further fields of LoraConfig)
CASES = {
    "llama": ("llama", "gqa", ATTENTION + GATED, {}),
    "llama_tied_head": ("llama", "mha", ATTENTION + ["lm_head"], {}),
    "llama_stabilized": ("llama", "biases", ["q_proj", "v_proj"], dict(use_rslora=True)),
    "llama_patterns": ("llama", "gqa", ATTENTION + GATED, dict(rank_pattern={"q_proj": 3}, alpha_pattern={"v_proj": 40})),
    "llama_one_layer": ("llama", "wide_heads", ATTENTION, dict(layers_to_transform=[1])),
    "qwen2": ("qwen2", "gqa", ATTENTION + GATED, {}),
    "qwen3": ("qwen3", "gqa", ATTENTION + GATED, {}),
    "phi3": ("phi3", "gqa", ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"], {}),
    "gemma2": ("gemma2", "gqa", ATTENTION + GATED, {}),
    "olmo2": ("olmo2", "gqa", ATTENTION + GATED, {}),
    "glm4": ("glm4", "gqa", ATTENTION + ["gate_up_proj", "down_proj"], {}),
    "command-r": ("command-r", "gqa", ATTENTION + GATED, {}),
    "starcoder2": ("starcoder2", "gqa", ATTENTION + ["c_fc", "c_proj"], {}),
    "qwen3moe": ("qwen3moe_plain", None, ATTENTION, {}),
    "deepseek2": ("deepseek2_v3_whole_queries", None, ["q_proj", "kv_a_proj_with_mqa", "o_proj"], {}),
}
EXPERTS = dict(target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"])
CASES |= {
    "qwen3moe_experts": ("qwen3moe_plain", None, ATTENTION, EXPERTS),
    "qwen2moe_experts": ("qwen2moe_plain", None, ["q_proj", "v_proj", *(f"shared_expert.{name}" for name in GATED)], EXPERTS),
}
LOST = ("llama_stabilized", "llama_patterns")  # their scales are not in the converter's files, of which these have none


def randomize(adapted, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in adapted.named_parameters():
            if "lora_" in name:
                value.copy_(torch.randn_like(value) * (0.5 / value.shape[1] ** 0.5))


def make(case):
    family, variant, modules, more = CASES[case]
    model = families.make_model(family, variant) if variant else experts.make_model(family)
    ids = families.some_ids(model.config.vocab_size)
    return model, ids, modules, more


def logits_of(wick, model, ids, adapters, out):
    command = [wick, "logits", "-m", model, "--ids", ",".join(map(str, ids)), "--kv-type", "f32", "-o", out]
    for adapter in adapters:
        command += ["--lora", adapter]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return np.load(out)


def convert(converter, base, adapter, out):
    program = str(converter / "convert_lora_to_gguf.py")
    before, sys.argv = sys.argv, [program, "--base", str(base), "--outtype", "f32", "--outfile", str(out), str(adapter)]
    try:  # in this process, which has loaded torch
        runpy.run_path(program, run_name="__main__")
    finally:
        sys.argv = before


def write_singles(source, target, n):
    """An adapter of experts as PEFT has it for checkpoints with a module for each matrix, which convert_lora_to_gguf.py reads."""
    tensors, singles = load_file(source / "adapter_model.safetensors"), {}
    for name, a in tensors.items():
        module = name.removesuffix(".lora_A.weight")
        if module == name:
            continue
        b = tensors[f"{module}.lora_B.weight"]
        if not module.endswith((".experts", ".experts.base_layer")):
            singles |= {name: a, f"{module}.lora_B.weight": b}
            continue
        a, b = a.reshape(n, -1, a.shape[1]), b.reshape(b.shape[0], -1, n)
        halves = b.chunk(2) if module.endswith(".base_layer") else [b]
        for matrix, rows in zip(["gate_proj", "up_proj"] if len(halves) == 2 else ["down_proj"], halves):
            for expert in range(n):
                own = f"{module.removesuffix('.base_layer')}.{expert}.{matrix}"
                singles[f"{own}.lora_A.weight"], singles[f"{own}.lora_B.weight"] = a[expert].clone(), rows[:, :, expert].clone()
    target.mkdir()
    save_file(singles, target / "adapter_model.safetensors")
    fields = json.loads((source / "adapter_config.json").read_text())
    (target / "adapter_config.json").write_text(json.dumps({**fields, "target_parameters": None}))


def compare(wick, case, folder, converter):
    model, ids, modules, more = make(case)
    logits = [families.run(model, ids)]  # with no adapter, the first, both at other scales
    base = folder / "base"
    model.save_pretrained(base)
    adapted = get_peft_model(model, LoraConfig(r=5, lora_alpha=7, target_modules=modules, **more), adapter_name="first")
    parameters = more.get("target_parameters")  # PEFT wants those of the first here
    adapted.add_adapter("second", LoraConfig(r=8, lora_alpha=16, target_modules=modules[:2], target_parameters=parameters))
    randomize(adapted, sum(map(ord, case)))
    adapted.base_model.set_adapter("first")
    logits.append(families.run(adapted, ids))
    for name, by in (("first", 0.5), ("second", -1.5)):
        for module in adapted.modules():
            if hasattr(module, "lora_A") and name in module.scaling:
                module.scaling[name] *= by
    adapted.base_model.set_adapter(["first", "second"])
    logits.append(families.run(adapted, ids))
    assert min(np.abs(a - b).max() for a, b in zip(logits, logits[1:])) > 0.1, "an adapter without an effect"
    adapted.save_pretrained(folder, selected_adapters=["first", "second"], save_embedding_layers=False)
    sources = {"safetensors": base}
    kinds = {"peft": {name: folder / name for name in ("first", "second")}}
    if parameters:
        kinds["singles"] = {name: folder / f"{name}_singles" for name in ("first", "second")}
        for name, path in kinds["singles"].items():
            write_singles(folder / name, path, model.config.num_experts)
    if converter:
        if case not in LOST:
            kinds["gguf"] = {name: folder / f"{name}.gguf" for name in ("first", "second")}
            for name, path in kinds["gguf"].items():
                convert(converter, base, kinds.get("singles", kinds["peft"])[name], path)
        models.convert(base, folder / "model.gguf")
        sources["gguf"] = folder / "model.gguf"
    worst = {}
    for source, path in sources.items():
        for kind, files in kinds.items():
            first, both = [files["first"]], [f"{files['first']}:0.5", f"{files['second']}:-1.5"]
            for wanted, adapters in ((logits[0], []), (logits[1], first), (logits[2], both)):
                seen = logits_of(wick, path, ids, adapters, folder / "out.npy")
                worst[f"{source}+{kind}"] = max(worst.get(f"{source}+{kind}", 0), float(np.abs(seen - wanted).max()))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("--converter", type=pathlib.Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if options.converter:
        sys.path[:0] = [str(options.converter), str(options.converter / "gguf-py")]
    failures = 0
    chosen = [case for case in CASES if not options.only or case in options.only.split(",")]
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = compare(options.wick, case, pathlib.Path(folder), options.converter)
            except (RuntimeError, AssertionError, ValueError, SystemExit) as error:
                row = {"failed": str(error)[-300:]}
        bad = [value for value in row.values() if isinstance(value, str) or not value <= models.LIMIT]
        failures += bool(bad)
        shown = "  ".join(f"{key} {value:.1e}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items())
        print(f"{'FAIL' if bad else 'ok  '} {case:18} {shown}", flush=True)
    print(f"{failures} of {len(chosen)} adapters fail")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
