#!/usr/bin/env python3
"""Write the seeds of the fuzzers of format: small whole files, each with another feature.

    python3 tools/goldens/format_corpus.py tests/fuzz/corpus

Standard library only. What fuzzing itself found to be worth keeping lies beside them, named by its hash.
"""
import json, pathlib, struct, sys


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def gguf(keys=(), tensors=(), version=3, alignment=32):
    """keys: (name, type, payload); tensors: (name, dims innermost first, type, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for name, kind, payload in keys:
        out += text(name) + struct.pack("<I", kind) + payload
    data = b""
    for name, dims, kind, size in tensors:
        data += bytes(-len(data) % alignment)
        out += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(data))
        data += bytes(size)
    return out + bytes(-len(out) % alignment) + data if tensors else out


def array(kind, count, payload):
    return struct.pack("<IQ", kind, count) + payload


SCALARS = [("u8", 0, b"\1"), ("i8", 1, b"\xff"), ("u16", 2, b"\1\0"), ("i16", 3, b"\xff\xff"), ("u32", 4, struct.pack("<I", 7)),
           ("i32", 5, struct.pack("<i", -7)), ("f32", 6, struct.pack("<f", .5)), ("bool", 7, b"\1"), ("string", 8, text("abc")),
           ("u64", 10, struct.pack("<Q", 1 << 63)), ("i64", 11, struct.pack("<q", -1)), ("f64", 12, struct.pack("<d", .25))]
ARRAYS = [("strings", 9, array(8, 2, text("a") + text("bc"))), ("integers", 9, array(5, 2, struct.pack("<2i", 1, 2))),
          ("bools", 9, array(7, 2, b"\1\0")), ("numbers", 9, array(6, 1, struct.pack("<f", 1))), ("empty", 9, array(4, 0, b""))]
ARCH = ("general.architecture", 8, text("llama"))
GGUF = {
    "scalars": gguf(SCALARS), "arrays": gguf(ARRAYS),
    "tensors": gguf([ARCH], [("a", [4], 0, 16), ("b", [32, 2], 8, 68), ("c", [256], 12, 144)]),
    "version-2": gguf([ARCH], [("a", [2, 2], 1, 8)], version=2),
    "alignment": gguf([("general.alignment", 4, struct.pack("<I", 64))], [("a", [4], 0, 16), ("b", [1], 0, 4)], alignment=64),
    "split": gguf([("split.no", 2, b"\0\0"), ("split.count", 2, b"\2\0")], [("a", [1, 1, 1, 1], 30, 2)]),
    "unsupported": gguf([], [("a", [256], 16, 66)]), "nested": gguf([("k", 9, array(9, 1, array(4, 1, b"\0\0\0\0")))]),
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
}


def safetensors(entries, size):
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + bytes(size)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


SAFETENSORS = {
    "two": safetensors({"__metadata__": {"format": "pt"}, "a": entry("F32", [2, 2], 0, 16), "b": entry("BF16", [4], 16, 24)}, 24),
    "scalar": safetensors({"s": entry("F16", [], 0, 2)}, 2), "none": safetensors({}, 0),
    "quantized": safetensors({"q": entry("F8_E4M3", [4], 0, 4)}, 4),
    "escaped": safetensors({"a\"\u00e9\n": entry("F32", [1], 0, 4)}, 4),
}
BASE = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 320}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "beta_fast": 16, "beta_slow": 2,
        "attention_factor": 1.25, "mscale": 1, "mscale_all_dim": 0.5, "truncate": False, "rope_theta": 1e4}
GENERATION = {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.1,
              "eos_token_id": [1, 2]}
CONFIG = {
    "llama": [{"model_type": "llama", **BASE, "rms_norm_eps": 1e-5, "eos_token_id": [1, 2], "bos_token_id": 0, "pad_token_id": None}],
    "yarn": [{"model_type": "llama", **BASE, "rope_parameters": YARN, "partial_rotary_factor": 0.5}],
    "llama3": [{"model_type": "llama", "rope_theta": 5e5, "rope_scaling": {
        "type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 64}}],
    "window": [{"model_type": "qwen3", **BASE, "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 2}],
    "types": [{"model_type": "qwen2", "num_hidden_layers": 2, "use_sliding_window": True, "sliding_window": 8,
               "layer_types": ["full_attention", "sliding_attention"]}],
    "nested": [{"model_type": "novel", "architectures": ["Novel"], "dtype": "bfloat16", "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8}, "sliding_attention": {"rope_theta": 1e4}}}],
    "generation": [{"model_type": "mistral"}, GENERATION, {"chat_template": "T"}, {"chat_template": "U"}],
    "templates": [{"model_type": "llama"}, {}, {"chat_template": [{"name": "default", "template": "D"}, {"name": "t", "template": "T"}]}],
}


def main():
    folder = pathlib.Path(sys.argv[1])
    config = {name: b"\0".join(json.dumps(part).encode() for part in parts) for name, parts in CONFIG.items()}
    for kind, seeds in (("gguf", GGUF), ("safetensors", SAFETENSORS), ("config", config)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (folder / kind / name).write_bytes(data)


if __name__ == "__main__":
    main()
