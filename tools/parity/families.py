"""Tiny random models of each dense family of decoders, for models.py (live) and tools/goldens/model_families.py (goldens).

A configuration is a family's class of transformers, what differs from its base, and which of these fields must change the
logits: a comparison proves nothing if what it is there for has no effect.
"""
import math

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM

torch.set_num_threads(1)
TOKENS = 96
BASE = dict(vocab_size=96, hidden_size=64, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=False,
            pad_token_id=None, bos_token_id=1, eos_token_id=2)


def rope(kind="default", theta=10000.0, **keys):
    return {"rope_type": kind, "rope_theta": theta, **keys}


YARN = rope("yarn", factor=4.0, original_max_position_embeddings=32)
LLAMA3 = rope("llama3", theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)


def long_rope(dim, **keys):
    return rope("longrope", short_factor=[1 + 0.1 * i for i in range(dim // 2)],
                long_factor=[1.5 + 0.7 * i for i in range(dim // 2)], original_max_position_embeddings=32, **keys)


def scalings(**partial):
    """What every family of rotating layers can have."""
    return {"linear": dict(rope_parameters={**rope("linear", factor=2.5), **partial}),
            "yarn": dict(rope_parameters={**YARN, **partial}),
            "llama3": dict(rope_parameters={**LLAMA3, **partial}),
            "dynamic": dict(max_position_embeddings=64, rope_parameters={**rope("dynamic", factor=2.0), **partial})}


HEADS = {"mha": dict(num_key_value_heads=4), "gqa": dict(), "mqa": dict(num_key_value_heads=1)}
WIDE = {"wide_heads": dict(head_dim=20, num_attention_heads=8, num_key_value_heads=4)}
TIED = {"tied": dict(tie_word_embeddings=True)}
WINDOW = {"window": dict(sliding_window=20)}
LOCAL = ["sliding_attention", "sliding_attention", "full_attention"]


def gemma3_rope(**full):
    return {"sliding_attention": rope(theta=100.0), "full_attention": {**rope(theta=10000.0), **full}}


GLOBAL, LAYERS = "full_attention", ["sliding_attention", "full_attention"] * 3
GEMMA4_ROPE = {"sliding_attention": rope(theta=100.0), GLOBAL: rope("proportional", partial_rotary_factor=0.25)}
SHARED = dict(num_kv_shared_layers=2, layer_types=LAYERS)


# family: (class, base, {name: changes}); a context of None is max_position_embeddings
FAMILIES = {
    "llama": ("Llama", {}, {**HEADS, **WIDE, **TIED, **scalings(), "biases": dict(attention_bias=True, mlp_bias=True)}),
    "mistral": ("Mistral", dict(sliding_window=None), {**HEADS, **WIDE, **WINDOW, **scalings()}),
    "qwen2": ("Qwen2", {}, {**HEADS, **TIED, **scalings(), "window": dict(
        use_sliding_window=True, sliding_window=20, max_window_layers=1)}),
    "qwen3": ("Qwen3", dict(head_dim=20), {**HEADS, **TIED, **scalings(), "biases": dict(attention_bias=True)}),
    "olmo2": ("Olmo2", {}, {**HEADS, **TIED, **scalings(), "biases": dict(attention_bias=True)}),
    "olmo3": ("Olmo3", dict(num_hidden_layers=4, sliding_window=20, rope_parameters=gemma3_rope()),
              {**HEADS, **TIED, "types": dict(num_hidden_layers=3, layer_types=LOCAL),
               "yarn": dict(rope_parameters=gemma3_rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=32)),
               "linear": dict(rope_parameters=gemma3_rope(rope_type="linear", factor=8.0)), "biases": dict(attention_bias=True)}),
    "gemma": ("Gemma", dict(head_dim=20, tie_word_embeddings=True), {**HEADS, **scalings(), "heads_as_wide": dict(head_dim=16)}),
    "gemma2": ("Gemma2", dict(head_dim=20, tie_word_embeddings=True, sliding_window=20, query_pre_attn_scalar=20,
                              final_logit_softcapping=6.0,
                              attn_logit_softcapping=2.0),
               {**HEADS, **scalings(), "no_caps": dict(final_logit_softcapping=None, attn_logit_softcapping=None),
                "scalar": dict(query_pre_attn_scalar=30), "types": dict(num_hidden_layers=3, layer_types=LOCAL)}),
    "gemma3": ("Gemma3Text", dict(head_dim=20, tie_word_embeddings=True, num_hidden_layers=6, sliding_window=20,
                                  query_pre_attn_scalar=20, rope_parameters=gemma3_rope()),
               {**HEADS, "linear": dict(rope_parameters=gemma3_rope(rope_type="linear", factor=8.0)),
                "types": dict(num_hidden_layers=3, layer_types=LOCAL, rope_parameters=gemma3_rope(rope_type="linear", factor=8.0)),
                "scalar": dict(query_pre_attn_scalar=30), "final_cap": dict(final_logit_softcapping=6.0)}),
    "gemma4": ("Gemma4Text", dict(head_dim=16, global_head_dim=32, tie_word_embeddings=True, num_hidden_layers=6, sliding_window=20,
                                  vocab_size_per_layer_input=96, hidden_size_per_layer_input=0, rope_parameters=GEMMA4_ROPE),
               {**HEADS, "types": dict(num_hidden_layers=3, layer_types=LOCAL), "biases": dict(attention_bias=True),
                "values_are_keys": dict(attention_k_eq_v=True, num_global_key_value_heads=1),
                "shared": SHARED, "wide_shared": dict(SHARED, use_double_wide_mlp=True),
                "layer_inputs": dict(hidden_size_per_layer_input=8), "final_cap": dict(final_logit_softcapping=6.0),
                "scaled": dict(rope_parameters={**GEMMA4_ROPE, GLOBAL: rope("proportional", partial_rotary_factor=0.5, factor=8.0)}),
                "all": dict(SHARED, use_double_wide_mlp=True, hidden_size_per_layer_input=8, attention_k_eq_v=True,
                            num_global_key_value_heads=1, final_logit_softcapping=6.0)}),
    "smollm3": ("SmolLM3", dict(num_hidden_layers=4), {**HEADS, **TIED, **scalings(), "listed": dict(no_rope_layers=[0, 1, 1, 0]),
                                                      "biases": dict(attention_bias=True, mlp_bias=True)}),
    "phi2": ("Phi", dict(partial_rotary_factor=0.5, intermediate_size=256, num_key_value_heads=4), {
        "mha": {}, "gqa": dict(num_key_value_heads=2), "mqa": dict(num_key_value_heads=1), **scalings(partial_rotary_factor=0.5),
        "whole": dict(
        rope_parameters={**rope(), "partial_rotary_factor": 1.0}), "exact_gelu": dict(hidden_act="gelu")}),
    "phi3": ("Phi3", dict(original_max_position_embeddings=128),
             {**HEADS, **TIED, **WINDOW,
              "long": dict(original_max_position_embeddings=32, rope_parameters=long_rope(16)),
              "long_partial": dict(original_max_position_embeddings=32, rope_parameters=long_rope(12, partial_rotary_factor=0.75)),
              "long_factor": dict(original_max_position_embeddings=32, rope_parameters=long_rope(16, attention_factor=1.3)),
              "short": dict(original_max_position_embeddings=96, max_position_embeddings=96,
                            rope_parameters={**long_rope(16), "original_max_position_embeddings": 96})}),
    "starcoder2": ("Starcoder2", dict(sliding_window=None), {**HEADS, **TIED, **WINDOW, **scalings(), "no_bias": dict(use_bias=False)}),
    "stablelm": ("StableLm", dict(partial_rotary_factor=0.25),
                 {**HEADS, **scalings(partial_rotary_factor=0.25), "biases": dict(use_qkv_bias=True),
                  "parallel": dict(use_parallel_residual=True, qk_layernorm=True), "head_norms": dict(qk_layernorm=True)}),
    "granite": ("Granite", dict(embedding_multiplier=12.0, logits_scaling=1.7, residual_multiplier=0.22, attention_multiplier=0.3),
                {**HEADS, **TIED, **scalings(), "biases": dict(attention_bias=True, mlp_bias=True)}),
    "command-r": ("Cohere", dict(logit_scale=0.6, tie_word_embeddings=True), {**HEADS, **scalings(), "qk_norm": dict(use_qk_norm=True),
                                                   "biases": dict(attention_bias=True)}),
    "cohere2": ("Cohere2", dict(num_hidden_layers=4, sliding_window=20, logit_scale=0.6, tie_word_embeddings=True),
                {**HEADS, **scalings(), "biases": dict(attention_bias=True), "types": dict(num_hidden_layers=3, layer_types=LOCAL)}),
    "glm4": ("Glm4", dict(head_dim=20, rope_parameters={**rope(), "partial_rotary_factor": 0.5}),
             {**HEADS, **TIED, **{k: v for k, v in scalings(partial_rotary_factor=0.5).items()}, "no_bias": dict(attention_bias=False)}),
    "mistral3": ("Ministral3", dict(head_dim=20, rope_parameters={**YARN, "mscale": 1.0, "mscale_all_dim": 1.0,
                                                                 "llama_4_scaling_beta": 0.1}),
                 {**HEADS, **TIED, "hotter": dict(rope_parameters={**YARN, "mscale": 1.0, "mscale_all_dim": 0.7,
                                                                   "llama_4_scaling_beta": 0.9}),
                  "window": dict(sliding_window=20)}),
}


PLAIN, UNSCALED = dict(rope_parameters=rope()), dict(rope_parameters=rope(theta=500.0))
HALF, QUARTER = [dict(rope_parameters={**rope(), "partial_rotary_factor": part}) for part in (0.5, 0.25)]
HALF_500 = {"rope_parameters": {**HALF["rope_parameters"], "rope_theta": 500.0}}
# What the converter's GGUF does not say: family: {variant: the configuration that it does say}. None: one that the tensors
# contradict, which is refused.
LOST = {
    "llama": {"dynamic": PLAIN}, "mistral": {"dynamic": PLAIN, "window": dict(sliding_window=None)},
    "qwen2": {"dynamic": PLAIN, "llama3": UNSCALED, "window": dict(use_sliding_window=False)},
    "qwen3": {"dynamic": PLAIN, "llama3": UNSCALED}, "olmo2": {"dynamic": PLAIN, "llama3": UNSCALED},
    "gemma": {"dynamic": PLAIN, "llama3": PLAIN, "linear": PLAIN, "yarn": PLAIN},
    "gemma2": {"dynamic": PLAIN, "llama3": PLAIN, "linear": PLAIN, "yarn": PLAIN,
               "scalar": dict(query_pre_attn_scalar=20),
               "types": dict(layer_types=["sliding_attention", "full_attention", "sliding_attention"])},
    "gemma3": {"scalar": dict(query_pre_attn_scalar=20), "types": dict(layer_types=["sliding_attention"] * 3)},
    "gemma4": {"scaled": dict(rope_parameters={**GEMMA4_ROPE, GLOBAL: rope("proportional", partial_rotary_factor=0.5)})},
    "smollm3": {"dynamic": PLAIN, "listed": dict(no_rope_layers=[1, 1, 1, 0])},
    "phi2": {"gqa": None, "mqa": None, "exact_gelu": dict(hidden_act="gelu_new"),
             **dict.fromkeys(("linear", "yarn", "llama3", "dynamic"), HALF)},
    "phi3": {"long_factor": dict(rope_parameters=long_rope(16))},
    "starcoder2": {"dynamic": PLAIN, "llama3": UNSCALED, "window": dict(sliding_window=None)},
    "stablelm": dict.fromkeys(("linear", "yarn", "llama3", "dynamic"), QUARTER), "granite": {"dynamic": PLAIN},
    "command-r": {**dict.fromkeys(("linear", "yarn", "dynamic"), PLAIN), "llama3": UNSCALED},
    "cohere2": {"types": dict(layer_types=["sliding_attention"] * 3), "llama3": UNSCALED,
                **dict.fromkeys(("linear", "yarn", "dynamic"), PLAIN)},
    "glm4": {"dynamic": HALF, "llama3": HALF_500}, "mistral3": {"window": dict(sliding_window=None)},
}


def changes_of(family, name):
    kind, base, variants = FAMILIES[family]
    changes = {**BASE, **base, **variants[name]}
    return {key: value for key, value in changes.items() if value is not None or key in
            ("pad_token_id", "sliding_window", "final_logit_softcapping", "attn_logit_softcapping")}


def make_model(family, name, **more):
    kind = FAMILIES[family][0]
    config = getattr(transformers, kind + "Config")(**{**changes_of(family, name), **more})
    classes = {"Gemma3Text": "Gemma3ForCausalLM", "Gemma4Text": "Gemma4ForCausalLM"}
    config.architectures = [classes.get(kind, kind + "ForCausalLM")]
    torch.manual_seed(sum(map(ord, family + name)))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    minus_one = family in ("gemma", "gemma2", "gemma3")
    with torch.no_grad():
        for key, value in model.named_parameters():
            if key.endswith("bias"):
                value.copy_(torch.randn_like(value) * 0.4)
            elif "norm" in key and family == "gemma4" and key.endswith(("q_norm.weight", "k_norm.weight")):
                value.copy_(0.6 + 0.2 * torch.randn_like(value))  # its scores are not divided by the root of the head's size
            elif "norm" in key:
                value.copy_((0 if minus_one else 1) + 0.3 * torch.randn_like(value))
            else:  # wide enough that attention is sharp and every part matters
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[1])))
        for key, value in model.named_buffers():
            if key.endswith("layer_scalar"):
                value.copy_(0.6 + 0.5 * torch.rand_like(value))
    return model


def run(model, ids):
    with torch.no_grad():  # hidden states too: else Gemma 4's last layers compute the last position alone
        return model(torch.tensor(ids)[None].long(), use_cache=False, output_hidden_states=True).logits[0].float().numpy()


def some_ids(vocab):
    return np.random.default_rng(7).integers(0, vocab, TOKENS).astype("<i4")


# A field that stands in a configuration for something, and what it is without it.
WITHOUT = {"sliding_window": 4096, "final_logit_softcapping": None, "attn_logit_softcapping": None, "query_pre_attn_scalar": 60,
           "embedding_multiplier": 1.0, "residual_multiplier": 1.0, "attention_multiplier": 0.25, "logits_scaling": 1.0,
           "logit_scale": 1.0}


def check_it_matters(family, name, model, ids, logits):
    spread = float(np.abs(logits).max())
    assert 1 < spread < 90, (family, name, spread)
    changes = changes_of(family, name)
    others = {key: {key: WITHOUT[key]} for key in WITHOUT if changes.get(key) is not None}
    parameters = changes.get("rope_parameters", {})
    if parameters.get("rope_type", "default") != "default":
        plain = {key: value for key, value in parameters.items() if key in ("rope_theta", "partial_rotary_factor")}
        others["rope_parameters"] = {"rope_parameters": {"rope_type": "default", **plain}}
        if "llama_4_scaling_beta" in parameters:
            others["rope_parameters"] = {"rope_parameters": {**parameters, "llama_4_scaling_beta": 0.0}}
    for key, change in others.items():
        other = make_model(family, name, **change)
        other.load_state_dict(model.state_dict())
        difference = float(np.abs(run(other, ids) - logits).max())
        assert difference > 0.003, (family, name, key, difference)
