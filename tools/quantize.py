#!/usr/bin/env python3
"""Writes the model of a GGUF file with its matrices in another format, as far as gguf-py can make it; vectors, biases of
experts and convolutions become F32.

  python quantize.py IN.gguf TYPE OUT.gguf     # TYPE: F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0; needs: pip install gguf==0.19.0
"""
import sys

import gguf

from dequantize import F32, rewrite

TYPES = "F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0".split()


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in TYPES:
        sys.exit(__doc__)
    kind = gguf.GGMLQuantizationType[sys.argv[2]]
    block = gguf.GGML_QUANT_SIZES[kind][0]

    def type_of(tensor):
        is_matrix = len(tensor.shape) > 1 and not tensor.name.endswith((".bias", "ssm_conv1d.weight"))
        return kind if is_matrix and int(tensor.shape[0]) % block == 0 else F32

    rewrite(sys.argv[1], sys.argv[3], gguf.LlamaFileType["MOSTLY_" + sys.argv[2]], type_of)


if __name__ == "__main__":
    main()
