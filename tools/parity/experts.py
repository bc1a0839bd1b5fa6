#!/usr/bin/env python3
"""Tiny random models of the families with experts, latent attention or gated delta layers, computed by transformers and by wick.

    ~/.cache/wick-ref/bin/python tools/parity/experts.py build/release/wick LLAMA_SOURCE [--only NAME] [--work FOLDER]
        [--json FILE] [--goldens FOLDER NAME...]

Each is written as safetensors by transformers and as GGUF by llama.cpp's converter out of LLAMA_SOURCE (the folder "src" of
../shared/tools/peer_llama.sh; only its vocabulary is left out, which these models do not have). Prints the largest difference of
logits over 96 positions, from both files, and fails where it exceeds 3e-4, of recurrent families 1e-3. With --goldens the
named models go to FOLDER with ids.bin and logits.bin, for src/model/parity_experts_test.cc. Made with torch 2.13.0,
transformers 5.23.0; seeds are fixed.
"""
import argparse
import json
import logging
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import transformers

import models
from expert_models import MODELS, RECURRENT

TOKENS = 96
# What GGUF has no key for.
UNSAID = {"gpt-oss_clamped": "it does not say the limit", "gpt-oss_types": "it does not say which layers have a window"}
transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore")


def make_model(name):
    cls, config = MODELS[name]
    config.architectures = [cls.__name__]
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    torch.manual_seed(sum(map(ord, name)))
    model = cls(config).float().eval()
    with torch.no_grad():
        for key, value in list(model.named_parameters()) + list(model.named_buffers()):
            if key.endswith(("inv_freq", "embed_scale")):
                continue
            if "conv1d" in key:
                value.copy_(torch.randn_like(value) * 0.6)
            elif key.endswith(("A_log", "dt_bias")):
                value.copy_(torch.randn_like(value) * 0.8)
            elif key.endswith("e_score_correction_bias"):
                value.copy_(torch.rand_like(value) * 0.3)
            elif key.endswith(("bias", "sinks")):
                value.copy_(torch.randn_like(value) * 0.4)
            elif value.ndim == 3 and "gpt_oss" in config.model_type:  # [experts, in, out]
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[1])))
            elif key.endswith("router.proj.weight"):  # it reads a state divided by the root of its width
                value.copy_(torch.randn_like(value) * 1.4)
            elif config.model_type == "gemma4_text" and key.endswith(("q_norm.weight", "k_norm.weight")):
                value.copy_(0.6 + 0.2 * torch.randn_like(value))  # its scores are not divided by the root of the head's size
            elif value.ndim >= 2:  # wide enough that attention is sharp and every part matters
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[-1])))
            else:  # gains; Qwen 3.5 stores most of them minus one
                value.copy_((0 if value.mean() == 0 else 1) + 0.3 * torch.randn_like(value))
    return model


def to_gguf(folder, out):
    """By the converter's classes in this process, which has loaded torch. Returns why they refuse, or None."""
    config = (folder / "config.json").read_text()
    try:
        models.convert(folder, out)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        (folder / "config.json").write_text(config)


def wick_logits(wick, path, ids, out):
    done = subprocess.run([wick, "logits", "-m", str(path), "--ids", ",".join(map(str, ids)), "-o", str(out),
                           "--kv-type", "f32"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["?"])[0]
    return np.load(out), ""


def write(name, folder):
    """What transformers says of the model, and both files; nothing where the folder has it all. Returns why there is no GGUF."""
    if not (folder / "logits.bin").exists():
        folder.mkdir(parents=True, exist_ok=True)
        model = make_model(name)
        model.save_pretrained(folder)
        ids = np.random.default_rng(7).integers(0, model.config.vocab_size, TOKENS).astype("<i4")
        with torch.no_grad():
            # Hidden states too: else Gemma 4's last layers compute the last position alone.
            result = model(torch.tensor(ids)[None].long(), use_cache=False, output_hidden_states=name.startswith("gemma4"))
        logits = result.logits[0].float().numpy()
        spread = float(np.abs(logits).max())
        assert 2 < spread < 200, (name, spread)
        (folder / "why.txt").write_text(to_gguf(folder, folder / "model.gguf") or "")
        ids.tofile(folder / "ids.bin")
        logits.astype("<f4").tofile(folder / "logits.bin")
    return (folder / "why.txt").read_text()


def compare(name, wick, folder):
    """{"safetensors": largest difference, "gguf": …}, and whether both are small enough."""
    why = write(name, folder)
    ids, logits = np.fromfile(folder / "ids.bin", "<i4"), np.fromfile(folder / "logits.bin", "<f4").reshape(TOKENS, -1)
    limit, is_right, words, row = (1e-3 if name.startswith(RECURRENT) else 3e-4), True, [], {}
    for kind, path in (("safetensors", folder), ("GGUF", folder / "model.gguf")):
        if kind == "GGUF" and why:
            words.append(f"GGUF: the converter does not take it ({why[:80]})")
            row["gguf"] = f"not converted: {why}"[:100]
            continue
        if kind == "GGUF" and name in UNSAID:
            words.append(f"GGUF: {UNSAID[name]}")
            row["gguf"] = f"not compared: {UNSAID[name]}"
            continue
        got, error = wick_logits(wick, path, ids, folder / "out.npy")
        worst = float(np.abs(got - logits).max()) if got is not None else math.inf
        row[kind.lower()] = float(f"{worst:.1e}")
        is_right &= worst <= limit
        words.append(f"{kind} {worst:.1e}" + (f" {error[:150]}" if error else ""))
    print(f"{name:24} logits up to {np.abs(logits).max():5.1f}  {'  '.join(words)}{'' if is_right else '  WRONG'}", flush=True)
    return row, is_right


def keep(folder, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for file in ("config.json", "model.safetensors", "model.gguf", "ids.bin", "logits.bin"):
        if (folder / file).exists():
            shutil.copyfile(folder / file, out / file)
            (out / file).chmod(0o644)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("llama_source")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", help="put the differences into this file, tests/data/model/parity.json")
    parser.add_argument("--work", help="keep what transformers computed here, and use it again")
    parser.add_argument("--goldens", nargs="+", default=[])
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    sys.path[:0] = [args.llama_source, args.llama_source + "/gguf-py"]
    names = args.goldens[1:] or [name for name in MODELS if name.startswith(args.only)]
    wrong, results = 0, {}
    with tempfile.TemporaryDirectory() as fresh:
        for name in names:
            folder = pathlib.Path(args.work or fresh) / name
            row, is_right = compare(name, args.wick, folder)
            wrong += not is_right
            results.setdefault(name.split("_")[0], {})[name.split("_", 1)[1]] = row
            if args.goldens:
                keep(folder, pathlib.Path(args.goldens[0]) / name)
    if args.json:
        known = json.loads(pathlib.Path(args.json).read_text())
        merged = {**known, **{family: {**known.get(family, {}), **rows} for family, rows in results.items()}}
        lines = [f' "{family}": {json.dumps(rows)}' for family, rows in merged.items()]
        pathlib.Path(args.json).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(names)} models, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
