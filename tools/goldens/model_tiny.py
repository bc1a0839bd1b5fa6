#!/usr/bin/env python3
"""Tiny random models of each architecture with the logits that Hugging Face transformers gives for them.

  ~/.cache/wick-ref/bin/python tools/goldens/model_tiny.py [OUT]      OUT: default tests/data/model/tiny

Each NAME becomes a folder with model.safetensors and config.json (F32, as transformers saves them), the
same weights as model.gguf (F32, written with the gguf package in the conventions of the usual
converter), ids.bin (int32 [64]) and logits.bin (float32 [64, vocab]). Made with torch 2.13.0,
transformers 5.23.0, gguf 0.19.0; all seeds are fixed. Needs no network.
"""
import json
import math
import pathlib
import shutil
import sys

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

TOKENS = 64
BASE = dict(vocab_size=97, hidden_size=32, intermediate_size=36, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=128,
            tie_word_embeddings=False, rms_norm_eps=1e-5, pad_token_id=None, bos_token_id=1, eos_token_id=2)


def folder(name):
    return pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).parents[2] / "tests/data/model" / name)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def rope(kind, theta=10000.0, **keys):
    return {"rope_type": kind, "rope_theta": theta, **keys}


# name: (configuration class, what differs from BASE, whether config.json is spelled as transformers 4 did)
MODELS = {
    "llama_mha": (LlamaConfig, {}, False),
    "llama_gqa3_tied": (LlamaConfig, dict(num_attention_heads=6, num_key_value_heads=2, head_dim=12,
                                          hidden_size=36, tie_word_embeddings=True), True),
    "llama_gqa8_biases": (LlamaConfig, dict(num_attention_heads=8, num_key_value_heads=1, head_dim=8,
                                            attention_bias=True, mlp_bias=True, vocab_size=113), False),
    "llama_linear": (LlamaConfig, dict(rope_parameters=rope("linear", factor=2.7)), True),
    "llama_llama3": (LlamaConfig, dict(num_key_value_heads=2, head_dim=16, rope_parameters=rope(
        "llama3", theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=32)), False),
    "llama_llama3_tied": (LlamaConfig, dict(num_attention_heads=3, num_key_value_heads=1, hidden_size=48,
                                            tie_word_embeddings=True, rope_parameters=rope(
        "llama3", theta=500000.0, factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=8192)), True),
    "llama_yarn": (LlamaConfig, dict(head_dim=12, rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32)), False),
    "mistral_gqa3": (MistralConfig, dict(num_attention_heads=6, num_key_value_heads=2, head_dim=10,
                                         hidden_size=36, sliding_window=None), True),
    "mistral_window": (MistralConfig, dict(num_key_value_heads=2, head_dim=8, sliding_window=20), False),
    "qwen2_gqa3_tied": (Qwen2Config, dict(num_attention_heads=6, num_key_value_heads=2, hidden_size=48,
                                          tie_word_embeddings=True, vocab_size=101), True),
    "qwen2_yarn": (Qwen2Config, dict(num_key_value_heads=1, rms_norm_eps=1e-6, rope_parameters=rope(
        "yarn", theta=1e6, factor=4.0, original_max_position_embeddings=16, beta_fast=16.0, beta_slow=2.0,
        attention_factor=1.25)), True),
    "qwen3_gqa8_tied": (Qwen3Config, dict(num_attention_heads=8, num_key_value_heads=1, head_dim=14,
                                          hidden_size=24, tie_word_embeddings=True, num_hidden_layers=3,
                                          intermediate_size=30, rms_norm_eps=1e-6), False),
    "qwen3_gqa3_biases": (Qwen3Config, dict(num_attention_heads=6, num_key_value_heads=2, head_dim=12,
                                            attention_bias=True, intermediate_size=36,
                                            rope_parameters=rope("linear", theta=1e6, factor=2.0)), True),
}


def make_model(name, kind, changes):
    config = kind(**{**BASE, **changes})
    if isinstance(config, Qwen2Config) and not isinstance(config, Qwen3Config):
        config.use_sliding_window = False
    config.architectures = [kind.__name__.replace("Config", "ForCausalLM")]
    torch.manual_seed(sum(map(ord, name)))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            if value.ndim == 2:  # wide enough that attention is sharp and every part matters
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[1])))
            elif key.endswith("bias"):
                value.copy_(torch.randn_like(value) * 0.4)
            else:
                value.copy_(1 + 0.3 * torch.randn_like(value))
    return model


def run(model, ids):
    with torch.no_grad():
        return model(torch.tensor(ids)[None].long()).logits[0].float().numpy()


def check_it_matters(name, kind, changes, model, ids, logits):
    """A golden proves nothing if what it is there for does not change the result."""
    spread = float(np.abs(logits).max())
    assert 2 < spread < 60, (name, spread)
    for key in ("rope_parameters", "sliding_window"):
        if changes.get(key) is None:
            continue
        plain = {**changes, key: rope("default", changes[key].get("rope_theta")) if key == "rope_parameters" else None}
        other = AutoModelForCausalLM.from_config(kind(**{**BASE, **plain}), attn_implementation="eager")
        other.float().eval().load_state_dict(model.state_dict())
        change = float(np.abs(run(other, ids) - logits).max())
        assert change > 0.01, (name, key, change)


def spell_as_transformers_4(path):
    config = json.loads(path.read_text())
    parameters = config.pop("rope_parameters")
    config["rope_theta"] = parameters.pop("rope_theta")
    config["rope_scaling"] = None if parameters["rope_type"] == "default" else parameters
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    config["transformers_version"] = "4.51.3"
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def llama3_factors(dim, parameters):
    """As the usual converter computes them: float tensors, one frequency at a time."""
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    context, factor = parameters["original_max_position_embeddings"], parameters["factor"]
    factors = []
    for frequency in 1.0 / (parameters["rope_theta"] ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)):
        wave = 2 * math.pi / frequency
        smooth = (context / wave - low) / (high - low)
        between = 1 / ((1 - smooth) / factor + smooth)
        factors.append(1 if wave < context / high else factor if wave > context / low else between)
    return torch.tensor(factors, dtype=torch.float32).numpy()


def to_pairs(rows, heads):
    """Rows of q or k from the half-split order of Hugging Face to GGUF llama's adjacent pairs."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def write_gguf(path, model):
    config = model.config
    arch = gguf.MODEL_ARCH.LLAMA if config.model_type in ("llama", "mistral") else \
        {"qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3}[config.model_type]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[arch])
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_dimension_count(head_dim)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    parameters = config.rope_parameters
    writer.add_rope_freq_base(parameters["rope_theta"])
    if parameters["rope_type"] in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(parameters["rope_type"]))
        writer.add_rope_scaling_factor(parameters["factor"])
    if parameters["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(parameters["original_max_position_embeddings"])
        for key, add in (("attention_factor", writer.add_rope_scaling_yarn_attn_factor),
                         ("beta_fast", writer.add_rope_scaling_yarn_beta_fast),
                         ("beta_slow", writer.add_rope_scaling_yarn_beta_slow)):
            if parameters.get(key) is not None:
                add(parameters[key])
    if config.model_type == "mistral" and config.sliding_window:
        writer.add_sliding_window(config.sliding_window)
    if parameters["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(head_dim, parameters))
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for key, value in model.state_dict().items():
        if config.tie_word_embeddings and key == "lm_head.weight":
            continue
        rows = value.float().numpy()
        if arch == gguf.MODEL_ARCH.LLAMA and ".q_proj." in key:
            rows = to_pairs(rows, config.num_attention_heads)
        if arch == gguf.MODEL_ARCH.LLAMA and ".k_proj." in key:
            rows = to_pairs(rows, config.num_key_value_heads)
        writer.add_tensor(names.get_name(key, try_suffixes=(".weight", ".bias")), np.ascontiguousarray(rows))
    finish(writer)


def main():
    root = folder("tiny")
    for name, (kind, changes, is_old) in MODELS.items():
        model = make_model(name, kind, changes)
        out = root / name
        shutil.rmtree(out, ignore_errors=True)
        model.save_pretrained(out)
        if is_old:
            spell_as_transformers_4(out / "config.json")
        write_gguf(out / "model.gguf", model)
        ids = np.random.default_rng(7).integers(0, model.config.vocab_size, TOKENS).astype("<i4")
        logits = run(model, ids)
        check_it_matters(name, kind, changes, model, ids, logits)
        ids.tofile(out / "ids.bin")
        logits.astype("<f4").tofile(out / "logits.bin")
        size = sum(file.stat().st_size for file in out.iterdir())
        for file in out.iterdir():
            file.chmod(0o644)
        print(f"{name}: logits up to {np.abs(logits).max():.1f}, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
