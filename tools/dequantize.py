#!/usr/bin/env python3
"""Writes the model of a GGUF file again with every tensor as F32 and all metadata kept.

  python dequantize.py IN.gguf OUT.gguf        # needs: pip install gguf==0.19.0

The output has the same weights to the bit, as numbers: an engine that reads both computes with the same values, so that a
difference between the two runs is the cost of rounding activations.
"""
import sys

import gguf
import numpy as np

F32 = gguf.GGMLQuantizationType.F32


def copy_metadata(reader, writer, file_type):
    kept_apart = {"general.architecture", "general.file_type", "general.alignment"}  # the writer's own or set below
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in kept_apart:
            continue
        kind, *inner = field.types
        writer.add_key_value(name, field.contents(), kind, inner[-1] if inner else None)
    writer.add_file_type(file_type)
    if "general.alignment" in reader.fields:
        writer.add_custom_alignment(reader.alignment)


def rewrite(path_in, path_out, file_type, type_of):
    """type_of(tensor) is the new type of a tensor. One tensor at a time is held in memory."""
    reader = gguf.GGUFReader(path_in)
    writer = gguf.GGUFWriter(path_out, reader.fields["general.architecture"].contents())
    copy_metadata(reader, writer, file_type)
    for tensor in reader.tensors:
        shape = [int(n) for n in reversed(tensor.shape)]
        kind = type_of(tensor)
        row = shape[:-1] + [shape[-1] // gguf.GGML_QUANT_SIZES[kind][0] * gguf.GGML_QUANT_SIZES[kind][1]]
        dtype = np.dtype({F32: np.float32, gguf.GGMLQuantizationType.F16: np.float16}.get(kind, np.uint8))
        size = int(np.prod(row))  # a row of `row` bytes, whatever the type
        writer.add_tensor_info(tensor.name, row if dtype == np.uint8 else shape, dtype, size, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in reader.tensors:
        shape = [int(n) for n in reversed(tensor.shape)]
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=False).reshape(shape)
        writer.write_tensor_data(np.ascontiguousarray(gguf.quantize(values, type_of(tensor))))
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rewrite(sys.argv[1], sys.argv[2], gguf.LlamaFileType.ALL_F32, lambda tensor: F32)
