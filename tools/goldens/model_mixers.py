#!/usr/bin/env python3
"""Tiny random models of mechanisms that no architecture of wick uses yet, with transformers' logits.

  ~/.cache/wick-ref/bin/python tools/goldens/model_mixers.py [OUT]      OUT: default tests/data/model/mixers

Latent attention as DeepSeek V2 and V3 have it, gated delta layers as Qwen3-Next and Qwen 3.5 have them; dense
feed-forwards. Each NAME becomes a folder with model.gguf (F32; the architectures of src/model/tiny_archs_test.h, tensors
named and ordered as llama.cpp's converter does for deepseek2, qwen3next and qwen35), ids.bin (int32 [64]) and
logits.bin (float32 [64, vocab]). Made with torch 2.13.0, transformers 5.23.0, gguf 0.19.0; seeds are fixed. Needs no network.
"""
import math
import shutil

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, DeepseekV2Config, DeepseekV3Config, Qwen3NextConfig
from transformers.models.qwen3_5 import Qwen3_5ForCausalLM, Qwen3_5TextConfig

from model_tiny import finish, folder

TOKENS, LAYERS = 64, 2
BASE = dict(vocab_size=97, hidden_size=32, intermediate_size=36, num_hidden_layers=LAYERS, num_attention_heads=4,
            num_key_value_heads=4, max_position_embeddings=128, tie_word_embeddings=False, rms_norm_eps=1e-6,
            pad_token_id=None, bos_token_id=1, eos_token_id=2,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
MLA = dict(kv_lora_rank=24, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, first_k_dense_replace=LAYERS)
DELTA = dict(layer_types=["linear_attention"] * LAYERS, linear_conv_kernel_dim=4, linear_num_key_heads=2,
             linear_num_value_heads=6, linear_key_head_dim=12, linear_value_head_dim=10)

MODELS = {
    "mla_v3": (DeepseekV3Config, dict(MLA, q_lora_rank=20)),
    "mla_v2_joint": (DeepseekV2Config, dict(MLA, q_lora_rank=None, head_dim=8)),
    "delta_grouped": (Qwen3NextConfig, dict(DELTA, mlp_only_layers=list(range(LAYERS)), head_dim=8)),
    "delta_tiled": (Qwen3_5TextConfig, dict(DELTA, head_dim=8)),
}


def make_model(name, kind, changes):
    config = kind(**{**BASE, **changes})
    torch.manual_seed(sum(map(ord, name)))
    if kind is Qwen3_5TextConfig:
        model = Qwen3_5ForCausalLM(config)
    else:
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    model = model.float().eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            if "conv1d" in key:
                value.copy_(torch.randn_like(value) * 0.6)
            elif value.ndim == 2:  # wide enough that attention is sharp and every part matters
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[1])))
            elif key.endswith(("A_log", "dt_bias")):
                value.copy_(torch.randn_like(value) * 0.8)
            else:  # gains; Qwen stores most of them minus one
                value.copy_((0 if value.mean() == 0 else 1) + 0.3 * torch.randn_like(value))
    return model


def heads_tiled(rows, key_heads, value_heads):
    """Rows of all heads of values from groups that share a head of keys to llama.cpp's order for qwen35."""
    grouped = rows.reshape(key_heads, value_heads // key_heads, -1, *rows.shape[1:])
    return grouped.swapaxes(0, 1).reshape(rows.shape)


def latent_tensors(get, config):
    heads, rank = config.num_attention_heads, config.kv_lora_rank
    nope, values = config.qk_nope_head_dim, config.v_head_dim
    out = {"attn_kv_a_mqa.weight": get("kv_a_proj_with_mqa.weight"), "attn_kv_a_norm.weight": get("kv_a_layernorm.weight"),
           "attn_output.weight": get("o_proj.weight")}
    joint = get("kv_b_proj.weight")
    if config.q_lora_rank is None:  # an older file
        return {**out, "attn_q.weight": get("q_proj.weight"), "attn_kv_b.weight": joint}
    both = joint.reshape(heads, nope + values, rank)
    return {**out, "attn_q_a.weight": get("q_a_proj.weight"), "attn_q_a_norm.weight": get("q_a_layernorm.weight"),
            "attn_q_b.weight": get("q_b_proj.weight"), "attn_k_b.weight": both[:, :nope].swapaxes(1, 2),
            "attn_v_b.weight": both[:, nope:]}


def delta_tensors(get, config):
    keys, values = config.linear_num_key_heads, config.linear_num_value_heads
    k_dim, v_dim = config.linear_key_head_dim, config.linear_value_head_dim
    per_key = values // keys
    conv, rate, dt = get("conv1d.weight")[:, 0], -np.exp(get("A_log")), get("dt_bias")
    out = get("out_proj.weight")
    if isinstance(config, Qwen3NextConfig):  # one matrix, by head of keys
        cuts = np.cumsum([k_dim, k_dim, per_key * v_dim])
        q, k, v, z = (np.concatenate(part) for part in zip(*(
            np.split(group, cuts) for group in np.split(get("in_proj_qkvz.weight"), keys))))
        beta, alpha = (np.concatenate(part) for part in zip(*(
            np.split(group, 2) for group in np.split(get("in_proj_ba.weight"), keys))))
        qkv = np.concatenate([q, k, v])
    else:
        def tiled(rows):
            return heads_tiled(rows, keys, values)

        def tail_tiled(rows):
            return np.concatenate([rows[:2 * keys * k_dim], tiled(rows[2 * keys * k_dim:])])

        qkv, conv = tail_tiled(get("in_proj_qkv.weight")), tail_tiled(conv)
        z, beta, alpha = (tiled(get(f"in_proj_{name}.weight")) for name in "zba")
        rate, dt, out = tiled(rate), tiled(dt), tiled(out.T).T
    return {"attn_qkv.weight": qkv, "attn_gate.weight": z, "ssm_beta.weight": beta, "ssm_alpha.weight": alpha,
            "ssm_out.weight": out, "ssm_conv1d.weight": conv, "ssm_a": rate, "ssm_dt.bias": dt,
            "ssm_norm.weight": get("norm.weight")}


def integers_of(config):
    if hasattr(config, "kv_lora_rank"):
        return {"attention.kv_lora_rank": config.kv_lora_rank, "attention.q_lora_rank": config.q_lora_rank or 0,
                "attention.key_length_mla": config.qk_nope_head_dim + config.qk_rope_head_dim,
                "attention.value_length_mla": config.v_head_dim, "rope.dimension_count": config.qk_rope_head_dim}
    return {"ssm.conv_kernel": config.linear_conv_kernel_dim, "ssm.group_count": config.linear_num_key_heads,
            "ssm.time_step_rank": config.linear_num_value_heads, "ssm.state_size": config.linear_key_head_dim,
            "ssm.inner_size": config.linear_num_value_heads * config.linear_value_head_dim,
            "ssm.has_tiled_heads": int(isinstance(config, Qwen3_5TextConfig)), "rope.dimension_count": 8}


def write_gguf(path, model):
    config = model.config
    is_latent = hasattr(config, "kv_lora_rank")
    arch = "tiny-mla" if is_latent else "tiny-delta"
    writer = gguf.GGUFWriter(path, arch)
    integers = {"block_count": LAYERS, "context_length": config.max_position_embeddings,
                "embedding_length": config.hidden_size, "feed_forward_length": config.intermediate_size,
                "attention.head_count": config.num_attention_heads, "attention.head_count_kv": 1,
                "attention.key_length": 8, "attention.value_length": 8, **integers_of(config)}
    for key, value in integers.items():
        writer.add_uint32(f"{arch}.{key}", value)
    writer.add_float32(f"{arch}.rope.freq_base", 10000.0)
    writer.add_float32(f"{arch}.attention.layer_norm_rms_epsilon", config.rms_norm_eps)
    state = {key: value.float().numpy() for key, value in model.state_dict().items()}
    minus_one = 0 if is_latent else 1  # how Qwen stores the gains of all norms but the gated one

    def add(name, rows):
        writer.add_tensor(name, np.ascontiguousarray(rows, dtype=np.float32))

    add("token_embd.weight", state["model.embed_tokens.weight"])
    add("output_norm.weight", state["model.norm.weight"] + minus_one)
    add("output.weight", state["lm_head.weight"])
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        add(f"blk.{layer}.attn_norm.weight", state[at + "input_layernorm.weight"] + minus_one)
        add(f"blk.{layer}.ffn_norm.weight", state[at + "post_attention_layernorm.weight"] + minus_one)
        for part in ("gate", "up", "down"):
            add(f"blk.{layer}.ffn_{part}.weight", state[f"{at}mlp.{part}_proj.weight"])
        mixer = at + ("self_attn." if is_latent else "linear_attn.")
        tensors = (latent_tensors if is_latent else delta_tensors)(lambda key: state[mixer + key], config)
        for name, rows in tensors.items():
            add(f"blk.{layer}.{name}", rows)
    finish(writer)


def main():
    root = folder("mixers")
    for name, (kind, changes) in MODELS.items():
        model = make_model(name, kind, changes)
        out = root / name
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        write_gguf(out / "model.gguf", model)
        ids = np.random.default_rng(7).integers(0, model.config.vocab_size, TOKENS).astype("<i4")
        with torch.no_grad():
            logits = model(torch.tensor(ids)[None].long(), use_cache=False).logits[0].float().numpy()
        spread = float(np.abs(logits).max())
        assert 2 < spread < 60, (name, spread)
        ids.tofile(out / "ids.bin")
        logits.astype("<f4").tofile(out / "logits.bin")
        print(f"{name}: logits up to {spread:.1f}, {sum(f.stat().st_size for f in out.iterdir()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
