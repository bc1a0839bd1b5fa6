"""A model of random numbers as a GGUF file: it answers noise in a millisecond. Its tokens are the bytes, and one that ends an answer."""

import array
import math
import random
import struct

_LAYERS, _WIDTH, _HEADS, _KV_HEADS, _HEAD, _HIDDEN = 2, 32, 4, 2, 8, 64
_U32, _F32, _BOOL, _STRING, _ARRAY, _I32 = 4, 6, 7, 8, 9, 5


def _text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _letters():
    """GPT-2's visible stand-ins for bytes."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in range(256)]


def write(path, context=256):
    numbers = random.Random(1)
    keys, infos, data = [], [], bytearray()

    def key(name, kind, payload):
        keys.append(_text(name) + struct.pack("<I", kind) + payload)

    def integer(name, value):
        key(name, _U32, struct.pack("<I", value))

    def tensor(name, *shape):
        n = math.prod(shape)
        values = (1 + 0.3 * numbers.uniform(-1, 1) for _ in range(n))
        if len(shape) > 1:
            values = (math.sqrt(6 / shape[-1]) * numbers.uniform(-1, 1) for _ in range(n))
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        infos.append(_text(name) + sizes + struct.pack("<IQ", 0, len(data)))
        data.extend(array.array("f", values).tobytes())  # multiples of 32 bytes, the alignment

    tokens = [*_letters(), "<|im_end|>"]
    key("general.architecture", _STRING, _text("llama"))
    integer("llama.block_count", _LAYERS)
    integer("llama.context_length", context)
    integer("llama.embedding_length", _WIDTH)
    integer("llama.feed_forward_length", _HIDDEN)
    integer("llama.attention.head_count", _HEADS)
    integer("llama.attention.head_count_kv", _KV_HEADS)
    integer("llama.rope.dimension_count", _HEAD)
    key("llama.attention.layer_norm_rms_epsilon", _F32, struct.pack("<f", 1e-5))
    key("tokenizer.ggml.model", _STRING, _text("gpt2"))
    key("tokenizer.ggml.pre", _STRING, _text("smollm"))
    key("tokenizer.ggml.tokens", _ARRAY, struct.pack("<IQ", _STRING, len(tokens)) + b"".join(map(_text, tokens)))
    key("tokenizer.ggml.token_type", _ARRAY, struct.pack(f"<IQ{len(tokens)}i", _I32, len(tokens), *[1] * 256, 3))
    key("tokenizer.ggml.merges", _ARRAY, struct.pack("<IQ", _STRING, 0))
    integer("tokenizer.ggml.eos_token_id", 256)
    key("tokenizer.ggml.add_bos_token", _BOOL, b"\0")
    tensor("token_embd.weight", len(tokens), _WIDTH)
    for i in range(_LAYERS):
        tensor(f"blk.{i}.attn_norm.weight", _WIDTH)
        tensor(f"blk.{i}.attn_q.weight", _HEADS * _HEAD, _WIDTH)
        tensor(f"blk.{i}.attn_k.weight", _KV_HEADS * _HEAD, _WIDTH)
        tensor(f"blk.{i}.attn_v.weight", _KV_HEADS * _HEAD, _WIDTH)
        tensor(f"blk.{i}.attn_output.weight", _WIDTH, _HEADS * _HEAD)
        tensor(f"blk.{i}.ffn_norm.weight", _WIDTH)
        tensor(f"blk.{i}.ffn_gate.weight", _HIDDEN, _WIDTH)
        tensor(f"blk.{i}.ffn_up.weight", _HIDDEN, _WIDTH)
        tensor(f"blk.{i}.ffn_down.weight", _WIDTH, _HIDDEN)
    tensor("output_norm.weight", _WIDTH)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)) + b"".join(keys) + b"".join(infos)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path
