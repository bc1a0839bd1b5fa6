// RoPE parameters of a model file: base, rotated features, scaling (linear, YaRN, Llama 3). Load
// time only.
#pragma once

#include <vector>

#include "model/arch/common.h"

namespace wick {

struct RopeSpec {
  RopeParams params = {};
  bool has_factors = false;  // see GqaSpec::has_rope_factors
};

// kUnsupported: an unknown kind of scaling.
Result<RopeSpec> rope_spec(const Hparams& hparams, RopeParams::Layout layout, int head_dim);

struct Llama3Scaling {  // Llama 3.1: low frequencies are divided by `factor`, high ones stay
  double theta = 1e4, factor = 8, low_freq_factor = 1, high_freq_factor = 4;
  int ctx_orig = 8192;
};

// The divisors [dim / 2] that GGUF files of Llama 3.1 and later carry as rope_freqs.weight, for
// files that only have the keys. Same float steps as the usual converter (docs/numerics.md says
// why), so that both kinds of file rotate by the same angles.
std::vector<float> llama3_rope_factors(const Llama3Scaling& scaling, int dim);

Result<Llama3Scaling> llama3_scaling(const Hparams& hparams);

}  // namespace wick
