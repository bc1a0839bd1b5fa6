#!/usr/bin/env python3
"""wick against llama.cpp (PyPI's xllamacpp): the 64 tokens that llama.cpp chooses greedily after a text, on random models of about 10 to 50
MB of each family that llama.cpp's converter writes, in F16, Q8_0 and Q4_K_M.

  ~/.cache/wick-ref/bin/python tools/parity/llama_greedy.py build/release/wick --converter DIR [--only FAMILY,…]

Q4_K_M is llama.cpp's mixture, each matrix quantized by its ggml_quantize_chunk().

At each position wick's largest logit, after llama.cpp's own tokens, must be that of llama.cpp's token, or a near tie with it: the gap between
wick's first token and llama.cpp's, in standard deviations of the logits, is then at most 0.02 (F16) or 0.5. Both round activations to 8 bits
with Q8_0 and Q4_K, by different rules, so near ties fall either way there. Where a gap is larger, both are compared with the same weights in
F32, in which wick equals transformers (models.py, experts.py): wick's token must be, or nearly be, the first one there. Only where 8-bit
activations meet a router or a recurrent state this may fail at single positions: a near tie of the router changes a token's experts, and then
its logits by more than a near tie. There llama.cpp must miss the same first tokens about as often: of the positions that only one of the two
misses, wick's may not be so many that chance has them in one of a hundred runs (sign test). Needs what models.py needs, and xllamacpp.
"""
import argparse
import ctypes
import json
import logging
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np

import expert_models
import experts
import families
import models

TOOLS = pathlib.Path(__file__).parents[1]
SIZE = dict(vocab_size=8192, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=2,
            max_position_embeddings=512)
TYPES = {"F16": 0.02, "Q8_0": 0.5, "Q4_K_M": 0.5}
TOKENS = 64
CHANCE = 0.01
CASES = ("llama", "mistral", "qwen2", "qwen3", "olmo2", "gemma", "gemma2", "gemma3", "gemma4", "smollm3", "phi3", "starcoder2", "stablelm", "granite",
         "command-r", "cohere2", "glm4", "mistral3", "olmo3")  # not phi2: xllamacpp 2026.10 does not load its tiny model
EXPERTS = {"qwen3moe": "qwen3moe_many", "mixtral": "mixtral_eight", "qwen2moe": "qwen2moe_many", "deepseek2": "deepseek2_kimi",
           "glm4moe": "glm4moe_plain", "gpt-oss": "gpt-oss_plain", "gemma4 experts": "gemma4_experts", "qwen35": "qwen35_plain",
           "qwen35moe": "qwen35moe_many"}  # of tools/parity/expert_models.py


def add_vocab(self):
    """A vocabulary that llama.cpp loads; its texts are never read."""
    import gguf
    n = self.hparams["vocab_size"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *(f"t{i}" for i in range(n - 259))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
    self.gguf_writer.add_tokenizer_model("llama")
    self.gguf_writer.add_token_list(tokens)
    self.gguf_writer.add_token_scores([-float(i) for i in range(n)])
    self.gguf_writer.add_token_types(kinds + [gguf.TokenType.NORMAL] * (n - 259))


def make_model(family):
    if family in CASES:
        families.BASE.update(SIZE)
        return families.make_model(family, "gqa")
    name = EXPERTS[family]
    cls, config = expert_models.MODELS[name]
    larger = {key: 256 for key in ("moe_intermediate_size", "shared_expert_intermediate_size", "kv_lora_rank", "q_lora_rank")
              if getattr(config, key, None)}
    if "linear_key_head_dim" in vars(config):
        larger |= dict(linear_key_head_dim=32, linear_value_head_dim=32, head_dim=64)  # what llama.cpp wants: one size, room for sections
    fields = {key: value for key, value in config.to_dict().items() if key not in ("layer_types", "per_layer_config", "no_rope_layers")}
    sizes = {**SIZE, "intermediate_size": 256 if family == "gpt-oss" else 512}
    if config.num_key_value_heads == config.num_attention_heads:
        sizes["num_key_value_heads"] = sizes["num_attention_heads"]
    expert_models.MODELS[name] = cls, type(config)(**{**fields, **sizes, **larger})
    return experts.make_model(name)


def type_of(name, rows, kinds, layers):
    """A matrix's type in llama.cpp's Q4_K_M (llama-quant.cpp); rows that are no multiple of 256 have one of blocks of 32."""
    layer = int(name.split(".")[1]) if name.startswith("blk.") else 0
    has_more_bits = layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
    is_fine = name in ("output.weight", "token_embd.weight") or has_more_bits and ("attn_v" in name or "ffn_down" in name)
    if rows % 256 == 0:
        return kinds.Q6_K if is_fine else kinds.Q4_K
    return kinds.F16 if rows % 32 else kinds.Q8_0 if is_fine else kinds.Q5_0


def write_q4_k_m(source, target):
    import gguf
    import xllamacpp
    import dequantize
    kinds = gguf.GGMLQuantizationType
    ggml = ctypes.CDLL(str(next(pathlib.Path(xllamacpp.__file__).parent.glob("*.so"))))
    ggml.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_void_p]
    ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
    plain = gguf.quantize

    def quantize(values, kind):
        if kind not in (kinds.Q4_K, kinds.Q6_K):
            return plain(values, kind)
        per, size = gguf.GGML_QUANT_SIZES[kind]
        out = np.empty((*values.shape[:-1], values.shape[-1] // per * size), np.uint8)
        rows = values.size // values.shape[-1]
        done = ggml.ggml_quantize_chunk(kind, values.ctypes.data, out.ctypes.data, 0, rows, values.shape[-1], None)
        assert done == out.size
        return out

    reader = gguf.GGUFReader(source)
    layers = 1 + max(int(tensor.name.split(".")[1]) for tensor in reader.tensors if tensor.name.startswith("blk."))

    def kind_of(tensor):  # vectors and routers stay as they are
        is_matrix = len(tensor.shape) > 1 and tensor.name.endswith(".weight") and not any(
            part in tensor.name for part in ("ffn_gate_inp", "ssm_conv1d", "norm"))
        return type_of(tensor.name, int(tensor.shape[0]), kinds, layers) if is_matrix else kinds.F32

    gguf.quantize = quantize
    dequantize.rewrite(source, target, gguf.LlamaFileType.MOSTLY_Q4_K_M, kind_of)
    gguf.quantize = plain


def write_model(family, folder):
    make_model(family).save_pretrained(folder)
    models.convert(folder, folder / "F32.gguf", add_vocab)
    for kind in TYPES:
        if kind == "Q4_K_M":
            write_q4_k_m(folder / "F32.gguf", folder / "Q4_K_M.gguf")
            continue
        subprocess.run([sys.executable, TOOLS / "quantize.py", folder / "F32.gguf", kind, folder / f"{kind}.gguf"], check=True,
                       capture_output=True)


def llama_tokens(path, ids):
    import xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.warmup, params.verbosity = 256, 1, False, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    server = xllamacpp.Server(params)
    body = {"prompt": [int(i) for i in ids], "n_predict": TOKENS, "temperature": 0, "return_tokens": True, "ignore_eos": True,
            "cache_prompt": False}
    request = urllib.request.Request(server.listening_address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["tokens"]


def is_chance(only_wick, only_llama):
    """Whether a fair coin gives wick so many of the positions that only one of the two misses."""
    n = only_wick + only_llama
    return sum(math.comb(n, k) for k in range(only_wick, n + 1)) / 2**n >= CHANCE


def behind(logits, tokens):
    """How far the logit of each token is below the largest, in standard deviations."""
    return (logits.max(axis=1) - logits[np.arange(len(tokens)), tokens]) / logits.std(axis=1)


def compare(wick, path, ids, limit, may_miss):
    """What is to be said about it, and whether wick is at fault. may_miss: single positions, as often as llama.cpp."""
    tokens = llama_tokens(path, ids)
    assert len(tokens) == TOKENS, len(tokens)

    def logits_of(file):
        return models.wick_logits(wick, file, [*ids, *tokens[:-1]], path.with_suffix(".npy"))[len(ids) - 1:]

    logits = logits_of(path)
    chosen, gaps = logits.argmax(axis=1), behind(logits, tokens)
    gap = float(gaps.max())
    text = f"{(chosen == tokens).sum()} of {TOKENS}" + (f", gap {gap:.3f}" if gap > 0 else "")
    if gap <= limit:
        return text, False
    widened = path.with_suffix(".F32.gguf")
    subprocess.run([sys.executable, TOOLS / "dequantize.py", path, widened], check=True, capture_output=True)
    judge = logits_of(widened)
    first = judge.argmax(axis=1)
    text += f" (F32: wick {(chosen == first).sum()}, llama.cpp {(tokens == first).sum()}"
    wick_misses = (gaps > limit) & (behind(judge, chosen) > limit)
    llama_misses = behind(judge, tokens) > limit
    only_wick, only_llama = int((wick_misses & ~llama_misses).sum()), int((llama_misses & ~wick_misses).sum())
    text += f"; missed by wick alone {only_wick}, by llama.cpp alone {only_llama})" if only_wick + only_llama else ")"
    return text, not is_chance(only_wick, only_llama) if may_miss else bool(wick_misses.any())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("--converter", type=pathlib.Path, required=True)
    parser.add_argument("--only")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    sys.path[:0] = [str(options.converter), str(options.converter / "gguf-py"), str(TOOLS)]
    ids = np.random.default_rng(5).integers(259, SIZE["vocab_size"], 32)
    failures = 0
    for family in (*CASES, *EXPERTS):
        if options.only and family not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            row, is_bad = {}, False
            try:
                write_model(family, folder)
                for kind, limit in TYPES.items():
                    may_miss = family in EXPERTS and kind != "F16"
                    row[kind], is_wrong = compare(options.wick, folder / f"{kind}.gguf", ids, limit, may_miss)
                    is_bad |= is_wrong
                size = (folder / "F16.gguf").stat().st_size / 1e6
            except Exception as error:
                row, is_bad, size = {"failed": f"{type(error).__name__} {error}"[:150]}, True, 0
        failures += is_bad
        print(f"{'FAIL' if is_bad else 'ok  '} {family:14} {size:3.0f} MB  " + "  ".join(f"{kind} {text}" for kind, text in row.items()), flush=True)
    print(f"{failures} families fail")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
