#!/usr/bin/env python3
"""Writes tests/data/backend/rope.txt: angles as Hugging Face's transformers makes them.

    python3 tools/goldens/backend_rope.py > tests/data/backend/rope.txt     (transformers 5.23.0, torch 2.13)

A line: name dim theta factor yarn attn_factor beta_fast beta_slow ctx_orig position, then dim / 2 frequencies, dim / 2
cosines and dim / 2 sines at that position (with the attention factor), all as %.9g.
"""
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

CASES = {
    "plain64": (64, {"rope_type": "default", "rope_theta": 100000.0}),
    "plain24": (24, {"rope_type": "default", "rope_theta": 10000.0}),
    "plain128": (128, {"rope_type": "default", "rope_theta": 1000000.0}),
    "linear": (64, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0}),
    "yarn4": (128, {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0, "original_max_position_embeddings": 32768}),
    "yarn32": (40, {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 32.0, "original_max_position_embeddings": 64,
                    "beta_fast": 16.0, "beta_slow": 2.0}),
}

for name, (dim, rope) in CASES.items():
    config = LlamaConfig(hidden_size=dim, num_attention_heads=1, head_dim=dim, max_position_embeddings=4096, rope_parameters=rope)
    if rope["rope_type"] == "default":
        inv, attn = 1.0 / (rope["rope_theta"] ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim)), 1.0
    else:
        inv, attn = ROPE_INIT_FUNCTIONS[rope["rope_type"]](config, "cpu")
    for position in (0, 1, 63, 64, 1000, 4095):
        angle = inv.float() * float(position)
        numbers = [*inv.tolist(), *(angle.cos() * attn).tolist(), *(angle.sin() * attn).tolist()]
        head = [name, dim, rope["rope_theta"], rope.get("factor", 1.0), int(rope["rope_type"] == "yarn"), "%.9g" % attn,
                rope.get("beta_fast", 32.0), rope.get("beta_slow", 1.0), rope.get("original_max_position_embeddings", 0), position]
        print(*head, *("%.9g" % x for x in numbers))
