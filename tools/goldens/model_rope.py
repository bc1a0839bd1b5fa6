#!/usr/bin/env python3
"""The rotation divisors of the published Llama 3 models, as the usual converter writes them.

  ~/.cache/wick-ref/bin/python tools/goldens/model_rope.py

Writes tests/data/model/rope_llama3.bin: float32 [64] for Llama 3.1 (theta 500000, 128 features a head,
factor 8), then [32] for Llama 3.2 1B (64 features, factor 32). Made with torch 2.13.0.
"""
import pathlib

import numpy as np

from model_tiny import llama3_factors

PUBLISHED = dict(rope_theta=500000.0, low_freq_factor=1.0, high_freq_factor=4.0,
                 original_max_position_embeddings=8192)
factors = [llama3_factors(128, PUBLISHED | {"factor": 8.0}), llama3_factors(64, PUBLISHED | {"factor": 32.0})]
np.concatenate(factors).astype("<f4").tofile(
    pathlib.Path(__file__).parents[2] / "tests/data/model/rope_llama3.bin")
