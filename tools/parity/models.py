#!/usr/bin/env python3
"""Compares wick's logits with those of Hugging Face transformers, live: tiny random F32 models of every dense family
(families.py), 96 tokens, from safetensors and from the GGUF files that llama.cpp's converter makes of them.

  ~/.cache/wick-ref/bin/python tools/parity/models.py build/release/wick [--converter DIR] [--only FAMILY] [--json OUT]

DIR is llama.cpp's source with convert_hf_to_gguf.py and conversion/ (tools/peer_llama.sh fetches it). Only the converter's
tokenizer part is left out: random models have none. wick's context is the text's length, 96, which decides what LongRoPE and dynamic
NTK scale by. The largest absolute difference may be 3e-4. "gguf without":
the converter leaves out what the configuration is there for, and the file is compared with the model that it describes. Needs torch 2.13.0,
transformers 5.23.0, numpy and gguf.
"""
import argparse
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import numpy as np

import families

LIMIT = 3e-4


def convert(folder, out, set_vocab=lambda self: None):
    """GGUF by llama.cpp's own classes, without a vocabulary; raises what the converter raises."""
    import torch
    import gguf
    from conversion import get_model_class
    from conversion.base import ModelBase
    # What a published checkpoint has and a random one has not.
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rotary_pct": 1.0}))
    vocab = {f"token {i}": i for i in range(config["vocab_size"])}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordPiece", "vocab": vocab}, "added_tokens": []}))
    hparams = ModelBase.load_hparams(folder, False)
    kind = get_model_class(hparams["architectures"][0])
    for one in [kind, *(value for value in vars(kind).values() if isinstance(value, type))]:
        one.set_vocab = set_vocab
    kind.no_mtp = True  # these models have no layers that predict further tokens
    with torch.inference_mode():
        kind(folder, gguf.LlamaFileType.ALL_F32, out).write()


def wick_logits(wick, model, ids, out):
    command = [wick, "logits", "-m", model, "--ids", ",".join(map(str, ids)), "--kv-type", "f32", "-o", out]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[0])
    return np.load(out)


def compare(wick, family, name, folder, can_convert):
    """{"safetensors": largest difference or why there is none, "gguf": …}"""
    model = families.make_model(family, name)
    ids = families.some_ids(model.config.vocab_size)
    logits = families.run(model, ids)
    families.check_it_matters(family, name, model, ids, logits)
    model.save_pretrained(folder)
    row = {"safetensors": float(np.abs(wick_logits(wick, folder, ids, folder / "out.npy") - logits).max())}
    if not can_convert:
        return row
    try:
        convert(folder, folder / "model.gguf")
    except Exception as error:
        row["gguf"] = f"not converted: {type(error).__name__} {error}"[:70].split("/tmp")[0]
        return row
    lost = families.LOST.get(family, {})
    if name in lost and lost[name] is None:
        row["gguf"] = "not converted: the tensors contradict the keys"
        return row
    if name in lost:  # then the GGUF is another model, whose logits it must have
        other = families.make_model(family, name, **lost[name])
        other.load_state_dict(model.state_dict())
        logits = families.run(other, ids)
    difference = float(np.abs(wick_logits(wick, folder / "model.gguf", ids, folder / "out.npy") - logits).max())
    row["gguf without" if name in lost else "gguf"] = difference
    return row


def main(variants_of, comparison):
    """Compares {family: names of its configurations}."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("--converter", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if options.converter:
        sys.path.insert(0, str(options.converter))
        sys.path.insert(0, str(options.converter / "gguf-py"))
    results, failures = {}, 0
    for family, variants in variants_of.items():
        if options.only and family not in options.only.split(","):
            continue
        for name in variants:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    row = comparison(options.wick, family, name, pathlib.Path(folder), options.converter is not None)
                except (RuntimeError, AssertionError, ValueError) as error:
                    row = {"safetensors": f"failed: {error}"[:160]}
            results.setdefault(family, {})[name] = row
            bad = [key for key, value in row.items() if isinstance(value, str) and not value.startswith("not converted")
                   or not isinstance(value, str) and not value <= LIMIT]
            failures += len(bad)
            shown = "  ".join(f"{key} {value:.1e}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items())
            print(f"{'FAIL' if bad else 'ok  '} {family:12} {name:14} {shown}", flush=True)
    if options.json:
        kept = json.loads(options.json.read_text()) if options.json.exists() else {}
        merged = {**kept, **{family: {**kept.get(family, {}), **rows} for family, rows in results.items()}}
        rounded = {family: {name: {source: float(f"{value:.1e}") if isinstance(value, float) else value
                                   for source, value in row.items()} for name, row in rows.items()}
                   for family, rows in merged.items()}
        lines = [f' "{family}": {json.dumps(rows)}' for family, rows in rounded.items()]
        options.json.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{failures} of {sum(map(len, results.values()))} configurations fail")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main({family: row[2] for family, row in families.FAMILIES.items()}, compare))
