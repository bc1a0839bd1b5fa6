#!/usr/bin/env python3
"""Compares wick's encoders with Hugging Face transformers, live: tiny random F32 models of every encoder, the hidden states of 96
tokens, from safetensors and from the GGUF files that llama.cpp's converter makes of them.

  ~/.cache/wick-ref/bin/python tools/parity/encoders.py build/release/wick [--converter DIR] [--only FAMILY] [--json OUT]

Arguments, limits and needs are those of models.py. OUT gets the rows of these families beside those that it has.
"""
import json
import math
import os
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import numpy as np
import torch
import transformers

import families
import models

BERT = dict(vocab_size=96, hidden_size=64, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=128, pad_token_id=0)
NOMIC = {**BERT, "rope_parameters": families.rope(theta=1000.0)}
GEMMA = dict(vocab_size=96, hidden_size=64, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
             head_dim=20, max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2, query_pre_attn_scalar=20,
             use_bidirectional_attention=True, sliding_window=4096, tie_word_embeddings=True, rope_parameters=families.gemma3_rope())
QWEN = dict(vocab_size=96, hidden_size=64, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            head_dim=20, max_position_embeddings=128, pad_token_id=None, tie_word_embeddings=True)
LAYERS = {"one_layer": dict(num_hidden_layers=1), "five_layers": dict(num_hidden_layers=5)}

# family: (configuration, model, base, {name: changes})
FAMILIES = {
    "bert": ("BertConfig", "BertModel", BERT, {
        "plain": {}, **LAYERS, "wide_heads": dict(num_attention_heads=1), "many_heads": dict(num_attention_heads=16),
        "tanh": dict(hidden_act="gelu_new"), "epsilon": dict(layer_norm_eps=0.3), "just_long_enough": dict(max_position_embeddings=96)}),
    "nomic-bert": ("NomicBertConfig", "NomicBertModel", NOMIC, {
        "plain": {}, **LAYERS, "wide_heads": dict(num_attention_heads=1), "many_heads": dict(num_attention_heads=16),
        "theta": dict(rope_parameters=families.rope(theta=30.0)), "epsilon": dict(layer_norm_eps=0.3)}),
    "gemma-embedding": ("Gemma3TextConfig", "Gemma3TextModel", GEMMA, {
        "plain": {}, "mha": dict(num_key_value_heads=4), "mqa": dict(num_key_value_heads=1), "one_layer": dict(num_hidden_layers=1),
        "window": dict(sliding_window=20, num_hidden_layers=6), "odd_window": dict(sliding_window=33, num_hidden_layers=6),
        "narrow_window": dict(sliding_window=2, num_hidden_layers=6)}),
    "qwen3-embedding": ("Qwen3Config", "Qwen3Model", QWEN, {
        "plain": {}, **LAYERS, "mha": dict(num_key_value_heads=4), "mqa": dict(num_key_value_heads=1),
        "theta": dict(rope_parameters=families.rope(theta=100.0)), "biases": dict(attention_bias=True)})}


# What GGUF has no key for: the file is then the model with this instead.
LOST = {("bert", "tanh"): dict(hidden_act="gelu")}


def make_model(family, name, **more):
    config_class, model_class, base, variants = FAMILIES[family]
    config = getattr(transformers, config_class)(**{**base, **variants[name], **more})
    config.architectures = [model_class]
    config._attn_implementation = "eager"
    torch.manual_seed(sum(map(ord, family + name)))
    no_pooler = {"add_pooling_layer": False} if "Bert" in model_class else {}
    model = getattr(transformers, model_class)(config, **no_pooler).float().eval()
    gain = 0 if family.startswith("gemma") else 1
    with torch.no_grad():
        for key, value in model.named_parameters():
            if key.endswith("bias"):
                value.copy_(torch.randn_like(value) * 0.4)
            elif value.dim() == 1:
                value.copy_(gain + 0.3 * torch.randn_like(value))
            else:
                value.copy_(torch.randn_like(value) * (1.4 / math.sqrt(value.shape[1])))
    return model


def states(model, ids):
    with torch.no_grad():
        return model(torch.tensor(ids)[None].long()).last_hidden_state[0].float().numpy()


def check_later_tokens_matter(model, ids, wanted):
    other = np.array(ids)
    other[-1] = (other[-1] + 1) % 90
    assert float(np.abs(states(model, other) - wanted)[:-1].max()) > 0.003, "the model is causal"


def as_published(folder):
    """What config.json has when Nomic's own code writes it."""
    config = json.loads((folder / "config.json").read_text())
    return config, {
        "model_type": "nomic_bert", "architectures": ["NomicBertModel"], "vocab_size": config["vocab_size"], "n_positions": 8192,
        "n_embd": config["hidden_size"], "n_head": config["num_attention_heads"], "n_layer": config["num_hidden_layers"],
        "n_inner": config["intermediate_size"], "layer_norm_epsilon": config["layer_norm_eps"], "activation_function": "swiglu",
        "rotary_emb_base": config["rope_parameters"]["rope_theta"], "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None, "causal": False, "prenorm": False, "qkv_proj_bias": False, "mlp_fc1_bias": False,
        "mlp_fc2_bias": False, "type_vocab_size": config["type_vocab_size"]}


def compare(wick, family, name, folder, can_convert):
    model = make_model(family, name)
    model.save_pretrained(folder)
    # Gemma 3 halves its window whenever it reads a configuration.
    model = type(model).from_pretrained(folder, attn_implementation="eager").float().eval()
    ids = families.some_ids(model.config.vocab_size)
    wanted = states(model, ids)
    if family == "qwen3-embedding":  # a decoder: its states times the tied table are the logits
        table = model.get_input_embeddings().weight.detach().numpy()
        wanted = wanted @ table.T
    else:
        check_later_tokens_matter(model, ids, wanted)
    got = models.wick_logits(wick, folder, ids, folder / "out.npy")
    row = {"safetensors": float(np.abs(got - wanted).max())}
    if not can_convert:
        return row
    if family == "nomic-bert":
        config, published = as_published(folder)
        (folder / "config.json").write_text(json.dumps(published))
        got = models.wick_logits(wick, folder, ids, folder / "out.npy")
        row["safetensors"] = max(row["safetensors"], float(np.abs(got - wanted).max()))
        (folder / "config.json").write_text(json.dumps({**config, **published}))  # the converter reads both
    try:
        models.convert(folder, folder / "model.gguf")
    except Exception as error:
        row["gguf"] = f"not converted: {type(error).__name__} {error}"[:70].split("/tmp")[0]
        return row
    if (family, name) in LOST:
        other = make_model(family, name, **LOST[family, name])
        other.load_state_dict(model.state_dict(), strict=False)  # a pooler is not used
        wanted = states(other, ids)
    got = models.wick_logits(wick, folder / "model.gguf", ids, folder / "out.npy")
    row["gguf without" if (family, name) in LOST else "gguf"] = float(np.abs(got - wanted).max())
    return row


if __name__ == "__main__":
    sys.exit(models.main({family: row[3] for family, row in FAMILIES.items()}, compare))
