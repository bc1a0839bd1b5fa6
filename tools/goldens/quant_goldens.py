#!/usr/bin/env python3
"""Makes tests/data/quant/{decode,encode}_goldens.txt with the Python package gguf 0.19.0.

For each format: 10,000 blocks of random bytes (so every bit pattern, NaN and infinite scales too), dequantized by gguf-py;
for the formats that gguf-py can make: 4,096 x 32 weights of a bell curve, quantized by it. Only hashes are kept.
src/quant/dtype_test.cc makes the same inputs again, so the two generators below must stay as they are.

  python quant_goldens.py [OUT_FOLDER]        # needs: pip install gguf==0.19.0
"""
import pathlib
import sys

import gguf
import numpy as np

BLOCKS = 10_000
ENCODE_WEIGHTS = 4_096 * 32
FORMATS = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4".split()
ENCODED = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0".split()  # MXFP4 is rounded by the OCP specification, not as gguf-py does
MASK = (1 << 64) - 1


def splitmix64(seed, count):
    """The first `count` words of splitmix64 (Steele, Lea, Flood 2014)."""
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_bytes(seed, count):
    return splitmix64(seed, (count + 7) // 8).view(np.uint8)[:count]


def bell_curve(seed, count):
    """The sum of a word's four 16-bit parts, as signed numbers, over 2^15: exact in a float, deviation 1.15."""
    parts = splitmix64(seed, count).view(np.int16).reshape(count, 4).astype(np.int32)
    return parts.sum(axis=1).astype(np.float32) / np.float32(32768)


def fnv1a(words):
    """FNV-1a with 64 bits, taking a whole 32-bit word at each step."""
    h = 0xCBF29CE484222325
    for word in words.tolist():
        h = ((h ^ word) * 0x100000001B3) & MASK
    return h


def canonical_bits(values):
    bits = values.astype(np.float32, copy=False).ravel().view(np.uint32).copy()
    bits[(bits & 0x7FFFFFFF) > 0x7F800000] = 0x7FC00000
    return bits


def decode_line(name):
    kind = gguf.GGMLQuantizationType[name]
    block_len, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = random_bytes(1000 + kind.value, BLOCKS * block_bytes).reshape(BLOCKS, block_bytes)
    values = gguf.dequantize(blocks, kind)
    assert values.size == BLOCKS * block_len, name
    return f"{name} {BLOCKS} {fnv1a(canonical_bits(values)):016x}"


def encode_line(name):
    kind = gguf.GGMLQuantizationType[name]
    block_len, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    weights = bell_curve(2000 + kind.value, ENCODE_WEIGHTS).reshape(-1, 32)
    data = np.ascontiguousarray(gguf.quantize(weights, kind)).view(np.uint8).ravel()
    assert data.size == ENCODE_WEIGHTS // block_len * block_bytes, name
    return f"{name} {ENCODE_WEIGHTS} {fnv1a(data):016x}"


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "tests/data/quant")
    out.mkdir(parents=True, exist_ok=True)
    np.seterr(all="ignore")
    made_by = "made by tools/goldens/quant_goldens.py with gguf-py 0.19.0"
    decode = [f"# format, blocks, FNV-1a of the float bits; {made_by}", *map(decode_line, FORMATS)]
    encode = [f"# format, weights, FNV-1a of the bytes; {made_by}", *map(encode_line, ENCODED)]
    (out / "decode_goldens.txt").write_text("\n".join(decode) + "\n")
    (out / "encode_goldens.txt").write_text("\n".join(encode) + "\n")


if __name__ == "__main__":
    main()
