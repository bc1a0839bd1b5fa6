#!/usr/bin/env python3
"""What transformers reads out of config.json files: the goldens of src/model/hf_config_test.cc.

    python3 tools/goldens/format_configs.py > tests/data/format/configs.json

Needs transformers 5 (made with 5.23.0) and torch. Each case is a config.json of our own, in the spelling of transformers 4 or 5,
often with fields left out, and what transformers makes of it.
"""
import json, logging, os, sys, tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

logging.disable(logging.CRITICAL)

BASE = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 320}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
SPLIT = ["full_attention", "sliding_attention"] * 2

CASES = {  # name: fields of config.json
    "llama, nothing said": {"model_type": "llama"},
    "llama, small": {"model_type": "llama", **BASE, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 256,
                     "tie_word_embeddings": True, "bos_token_id": 3, "eos_token_id": [4, 5]},
    "llama, nulls": {"model_type": "llama", **BASE, "num_key_value_heads": None, "head_dim": None, "rope_scaling": None,
                     "rope_theta": 5e5, "eos_token_id": None, "bos_token_id": None},
    "llama, head_dim of its own": {"model_type": "llama", **BASE, "head_dim": 24, "num_key_value_heads": 1},
    "llama 4-style linear": {"model_type": "llama", **BASE, "rope_theta": 2e4, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "llama 4-style llama3": {"model_type": "llama", **BASE, "rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
    "llama 5-style llama3": {"model_type": "llama", **BASE, "max_position_embeddings": 512,
                             "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}},
    "llama 4-style yarn": {"model_type": "llama", **BASE, "max_position_embeddings": 512, "rope_scaling":
                           {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}},
    "llama 5-style yarn, all said": {"model_type": "llama", **BASE, "max_position_embeddings": 512, "rope_parameters":
                                     {"rope_type": "yarn", "rope_theta": 3e4, "factor": 4.0, "original_max_position_embeddings": 128,
                                      "beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.25}},
    "llama yarn, mscale": {"model_type": "llama", **BASE, "max_position_embeddings": 512, "rope_parameters":
                           {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 128, "mscale": 0.7,
                            "mscale_all_dim": 1.0}},
    "llama yarn, no factor": {"model_type": "llama", **BASE, "max_position_embeddings": 512, "rope_parameters":
                              {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 128, "beta_fast": 0}},
    "llama yarn, context as original": {"model_type": "llama", **BASE, "max_position_embeddings": 512,
                                        "rope_scaling": {"type": "yarn", "factor": 4.0}},
    "llama, both spellings": {"model_type": "llama", **BASE, "rope_scaling": {"type": "linear", "factor": 3.0},
                              "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 7e3}, "rope_theta": 8e3},
    "llama, partial rotation": {"model_type": "llama", **BASE, "partial_rotary_factor": 0.5},
    "mistral, nothing said": {"model_type": "mistral"},
    "mistral, no window": {"model_type": "mistral", **BASE, "num_key_value_heads": 2, "sliding_window": None},
    "mistral, window": {"model_type": "mistral", **BASE, "num_key_value_heads": 4, "sliding_window": 16},
    "qwen2, nothing said": {"model_type": "qwen2"},
    "qwen2, window not used": {"model_type": "qwen2", **BASE, "num_key_value_heads": 2, "use_sliding_window": False,
                               "sliding_window": 32, "max_window_layers": 2},
    "qwen2, window in upper layers": {"model_type": "qwen2", **BASE, "num_key_value_heads": 2, "use_sliding_window": True,
                                      "sliding_window": 32, "max_window_layers": 3},
    "qwen2, window in no layer": {"model_type": "qwen2", **BASE, "num_key_value_heads": 2, "use_sliding_window": True,
                                  "sliding_window": 32},
    "qwen2 4-style yarn": {"model_type": "qwen2", **BASE, "num_key_value_heads": 4, "rope_theta": 1e6, "max_position_embeddings": 512,
                           "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}},
    "qwen3, nothing said": {"model_type": "qwen3"},
    "qwen3, small": {"model_type": "qwen3", **BASE, "head_dim": 32, "num_key_value_heads": 2, "rope_theta": 1e6,
                     "tie_word_embeddings": True, "eos_token_id": 7},
    "qwen3, layer types": {"model_type": "qwen3", **BASE, "num_key_value_heads": 2, "use_sliding_window": True,
                           "sliding_window": 32, "layer_types": SPLIT},
}


def ids(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def expected(config):
    rope = config.rope_parameters
    kind = rope.get("rope_type", "default")
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    windows = [0] * config.num_hidden_layers
    if getattr(config, "sliding_window", None) is not None:
        types = getattr(config, "layer_types", None) or ["sliding_attention"] * config.num_hidden_layers
        windows = [config.sliding_window if kind == "sliding_attention" else 0 for kind in types]
    out = {"layers": config.num_hidden_layers, "hidden": config.hidden_size, "ffn": config.intermediate_size,
           "context": config.max_position_embeddings, "vocab": config.vocab_size, "heads": config.num_attention_heads,
           "kv_heads": config.num_key_value_heads, "head_dim": head_dim, "eps": config.rms_norm_eps, "act": config.hidden_act,
           "tied": config.tie_word_embeddings, "theta": rope["rope_theta"], "rope_type": kind,
           "rotated": int(head_dim * rope.get("partial_rotary_factor", 1.0)), "windows": windows,
           "bos": ids(config.bos_token_id), "eos": ids(config.eos_token_id)}
    if kind != "default":
        out["attention_scale"] = float(ROPE_INIT_FUNCTIONS[kind](config, "cpu")[1])
        out["factor"] = rope["factor"]
        if kind == "yarn" and out["factor"] is None:
            out["factor"] = config.max_position_embeddings / rope["original_max_position_embeddings"]
        for name in ("original_max_position_embeddings", "low_freq_factor", "high_freq_factor"):
            if name in rope:
                out[name] = rope[name]
        if kind == "yarn":
            out["beta_fast"], out["beta_slow"] = rope.get("beta_fast") or 32, rope.get("beta_slow") or 1
    return out


def main():
    cases = []
    for name, fields in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w") as out:
                json.dump(fields, out)
            config = transformers.AutoConfig.from_pretrained(folder)
        cases.append({"name": name, "config": fields, "expected": expected(config)})
        with tempfile.TemporaryDirectory() as folder:  # and as transformers itself writes it
            config.save_pretrained(folder)
            written = json.load(open(os.path.join(folder, "config.json")))
            again = transformers.AutoConfig.from_pretrained(folder)
        cases.append({"name": name + ", saved again", "config": written, "expected": expected(again)})
    print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")


if __name__ == "__main__":
    sys.exit(main())
