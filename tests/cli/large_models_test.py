#!/usr/bin/env python3
"""Models that no memory here can hold, in full size as headers without a byte of weights (sparse files): they are described, and refused with a
sentence about memory before a tensor is read."""
# labels: cli
import json
import math
import pathlib
import resource
import struct
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
LAYERS, WIDTH, Q_RANK, KV_RANK, NOPE, ROPE, VALUE, HIDDEN = 61, 7168, 1536, 512, 128, 64, 128, 2048
DENSE_HIDDEN = 18432
F32, Q8_0 = (0, 1, 4), (8, 32, 34)  # GGUF's number of the type, weights in a block, bytes of a block
# heads, experts, dense layers at the beginning, groups of experts, vocabulary; billions of parameters, as published
MODELS = {"DeepSeek V3": (128, 256, 3, 8, 129280, 671), "Kimi K2": (64, 384, 1, 1, 163840, 1026)}


def tensors(heads, experts, dense, vocabulary):
    """(name, type, shape as GGUF has it)"""
    yield "token_embd.weight", Q8_0, (WIDTH, vocabulary)
    yield "output.weight", Q8_0, (WIDTH, vocabulary)
    yield "output_norm.weight", F32, (WIDTH,)
    for layer in range(LAYERS):
        rows = [("attn_norm.weight", F32, (WIDTH,)), ("ffn_norm.weight", F32, (WIDTH,)), ("attn_q_a_norm.weight", F32, (Q_RANK,)),
                ("attn_kv_a_norm.weight", F32, (KV_RANK,)), ("attn_q_a.weight", Q8_0, (WIDTH, Q_RANK)),
                ("attn_q_b.weight", Q8_0, (Q_RANK, heads * (NOPE + ROPE))), ("attn_kv_a_mqa.weight", Q8_0, (WIDTH, KV_RANK + ROPE)),
                ("attn_k_b.weight", Q8_0, (NOPE, KV_RANK, heads)), ("attn_v_b.weight", Q8_0, (KV_RANK, VALUE, heads)),
                ("attn_output.weight", Q8_0, (heads * VALUE, WIDTH))]
        if layer >= dense:
            rows += [("ffn_gate_inp.weight", F32, (WIDTH, experts)), ("exp_probs_b.bias", F32, (experts,))]
        for end, hidden, more in ((".weight", DENSE_HIDDEN, ()),) if layer < dense else (("_exps.weight", HIDDEN, (experts,)),
                                                                                   ("_shexp.weight", HIDDEN, ())):
            rows += [("ffn_gate" + end, Q8_0, (WIDTH, hidden, *more)), ("ffn_up" + end, Q8_0, (WIDTH, hidden, *more)),
                     ("ffn_down" + end, Q8_0, (hidden, WIDTH, *more))]
        for name, kind, shape in rows:
            yield f"blk.{layer}.{name}", kind, shape


def write(path, name):
    """Returns the number of parameters and their bytes."""
    heads, experts, dense, groups, vocabulary, _ = MODELS[name]
    keys = {"general.architecture": "deepseek2", "general.name": name, "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "deepseek-v3",
            "tokenizer.ggml.tokens": tiny.letters() + [f"<{i}>" for i in range(256, vocabulary)],
            "tokenizer.ggml.token_type": [1] * vocabulary, "tokenizer.ggml.merges": ["a b"], "tokenizer.ggml.eos_token_id": 1}
    keys |= {f"deepseek2.{key}": value for key, value in {
        "block_count": LAYERS, "context_length": 131072, "embedding_length": WIDTH, "feed_forward_length": DENSE_HIDDEN,
        "attention.head_count": heads, "attention.head_count_kv": 1, "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.q_lora_rank": Q_RANK, "attention.kv_lora_rank": KV_RANK, "attention.key_length": KV_RANK + ROPE,
        "attention.value_length": KV_RANK, "attention.key_length_mla": NOPE + ROPE, "attention.value_length_mla": VALUE,
        "rope.dimension_count": ROPE, "rope.freq_base": 10000.0, "leading_dense_block_count": dense, "expert_count": experts,
        "expert_used_count": 8, "expert_shared_count": 1, "expert_feed_forward_length": HIDDEN, "expert_weights_scale": 2.5,
        "expert_weights_norm": True, "expert_gating_func": 2, "expert_group_count": groups,
        "expert_group_used_count": max(1, groups // 2)}.items()}
    infos, offset, parameters = [], 0, 0
    for title, (number, per, size), shape in tensors(heads, experts, dense, vocabulary):
        infos.append(tiny.text(title) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, number, offset))
        parameters += math.prod(shape)
        offset += -(-math.prod(shape) // per * size // 32) * 32
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)))
        file.write(b"".join(tiny.key(key, value) for key, value in keys.items()) + b"".join(infos))
        file.truncate(-(-file.tell() // 32) * 32 + offset)
    return parameters, offset


class LargeModels(unittest.TestCase):
    def test_they_are_described_and_refused_before_a_tensor_is_read(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home = tiny.Home(WICK, folder.name)
        for name, (*_, billions) in MODELS.items():
            path = pathlib.Path(folder.name) / "m.gguf"
            parameters, size = write(path, name)
            self.assertEqual(round(parameters / 1e9), billions)
            info = json.loads(home.wick("model", "info", path, "--json").stdout)
            self.assertEqual((info["architecture"], info["parameters"]), ("deepseek2", parameters))
            self.assertEqual(info["kv_bytes_per_token"], LAYERS * (KV_RANK + ROPE) * 2)
            self.assertEqual(info["cache"]["bf16"]["context_in_memory"], 0)
            done = home.wick("run", "-m", path, "-p", "hi")
            self.assertEqual(done.returncode, 4, done)
            amount = f"{size / 1e9:.0f} GB" if size < 1e12 else f"{size / 1e12:.1f} TB"
            self.assertIn(f"its weights take {amount}, there are ".encode(), done.stderr)
            self.assertIn(b" of memory", done.stderr)
            self.assertIn(b"hint: take a smaller quantization", done.stderr)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 400 * 1024, "KiB: no weights among them")


if __name__ == "__main__":
    unittest.main(verbosity=0)
