// RoPE parameters of a model file: base, rotated features, scaling (linear, YaRN, Llama 3,
// LongRoPE, dynamic NTK). Load
// time only.
#pragma once

#include <vector>

#include "model/arch/common.h"

namespace wick {

struct RopeSpec {  // as in GqaSpec
  RopeParams params = {};
  RopeFactors factors = RopeFactors::kNone;
  float dynamic_factor = 0;
};

// kUnsupported: an unknown kind of scaling.
Result<RopeSpec> rope_spec(const Hparams& hparams, RopeParams::Layout layout, int head_dim);

// Computes the RoPE parameters that depend on the context size (dynamic NTK). They depend on the
// context at load, not on the length of a sequence, so the length changes no bit.
void fit_to_context(DecoderSpec& spec, int context);

struct Llama3Scaling {  // Llama 3.1: low frequencies are divided by `factor`, high ones stay
  double theta = 1e4, factor = 8, low_freq_factor = 1, high_freq_factor = 4;
  int ctx_orig = 8192;
};

// Computes the divisors [dim / 2] of Llama 3.1 and later for files that have only the keys. GGUF
// files have them as rope_freqs.weight. The float operations are those of llama.cpp's converter, so
// both kinds of files yield the same angles (docs/numerics.md has the reason).
std::vector<float> llama3_rope_factors(const Llama3Scaling& scaling, int dim);

Result<Llama3Scaling> llama3_scaling(const Hparams& hparams);

}  // namespace wick
