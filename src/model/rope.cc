#include "model/rope.h"

#include <cmath>
#include <numbers>

#include "base/strings.h"
#include "model/limits.h"

namespace wick {

namespace {

constexpr double kMaxFactor = 1e6;

// Scaling by `factor` in the kinds that have one; older files say it as rope.scale_linear. A float,
// as GGUF has it, so that config.json's double gives the same bits.
Result<float> scaling_factor(const Hparams& hparams) {
  WICK_TRY(const double legacy, hparams.number_or("rope.scale_linear", 1, 0, kMaxFactor));
  WICK_TRY(const double factor, hparams.number_or("rope.scaling.factor", legacy, 0, kMaxFactor));
  return factor > 0 ? static_cast<float>(factor) : 1;  // files write 0 for "none"
}

// YaRN: rotated values grow by 0.1 ln(factor) + 1 unless the file says by how much.
Result<void> add_yarn(RopeParams& rope, const Hparams& hparams, float factor, int ctx_train) {
  const double usual = factor > 1 ? 0.1 * std::log(static_cast<double>(factor)) + 1 : 1;
  rope.is_range_rounded =
      hparams.file().metadata().boolean("wick.rope_yarn_truncate").value_or(true);
  WICK_TRY(const double ext, hparams.number_or("rope.scaling.yarn_ext_factor", 1, 0, 1));
  WICK_TRY(const double growth,
           hparams.number_or("rope.scaling.yarn_attn_factor", usual, 1e-3, 1e3));
  WICK_TRY(const double more, hparams.number_or("rope.scaling.attn_factor", 1, 1e-3, 1e3));
  WICK_TRY(const double fast, hparams.number_or("rope.scaling.yarn_beta_fast", 32, 1e-3, 1e6));
  WICK_TRY(const double slow, hparams.number_or("rope.scaling.yarn_beta_slow", 1, 1e-3, 1e6));
  WICK_TRY(rope.ctx_orig,
           hparams.integer_or("rope.scaling.original_context_length", ctx_train, 1, kMaxContext));
  rope.ext_factor = static_cast<float>(ext);
  rope.attn_factor = static_cast<float>(growth * more);
  rope.beta_fast = static_cast<float>(fast);
  rope.beta_slow = static_cast<float>(slow);
  return {};
}

// LongRoPE: two sets of divisors, and a factor on rotated values.
Result<void> add_long_rope(RopeSpec& spec, const Hparams& hparams, int ctx_train) {
  spec.factors = RopeFactors::kLong;
  WICK_TRY(const double growth, hparams.number_or("rope.scaling.attn_factor", 1, 1e-3, 1e3));
  WICK_TRY(spec.params.ctx_orig,
           hparams.integer_or("rope.scaling.original_context_length", ctx_train, 1, kMaxContext));
  spec.params.attn_factor = static_cast<float>(growth);
  return {};
}

}  // namespace

Result<RopeSpec> rope_spec(const Hparams& hparams, RopeParams::Layout layout, int head_dim) {
  RopeSpec spec;
  RopeParams& rope = spec.params;
  rope.layout = layout;
  WICK_TRY(rope.dim, hparams.integer_or("rope.dimension_count", head_dim, 1, head_dim));
  if (rope.dim % 2 != 0) {
    return hparams.invalid(cat("rotates ", rope.dim, " features of a head (",
                               hparams.key("rope.dimension_count"), "), which must be even"));
  }
  WICK_TRY(const double theta, hparams.number_or("rope.freq_base", 1e4, 1, kMaxTheta));
  rope.theta = static_cast<float>(theta);
  WICK_TRY(const float factor, scaling_factor(hparams));
  WICK_TRY(const int ctx_train, hparams.need("context_length", 1, kMaxContext));
  if (hparams.file().find("rope_freqs.weight") != nullptr) spec.factors = RopeFactors::kLlama3;

  const std::string_view type = hparams.string("rope.scaling.type").value_or("linear");
  const bool is_long = type == "longrope" || type == "su" ||
                       hparams.file().find("rope_factors_long.weight") != nullptr;
  if (is_long) {
    WICK_DO(add_long_rope(spec, hparams, ctx_train));
  } else if (type == "linear") {
    rope.freq_scale = 1 / factor;
  } else if (type == "yarn") {
    rope.freq_scale = 1 / factor;
    WICK_DO(add_yarn(rope, hparams, factor, ctx_train));
  } else if (type == "llama3") {
    spec.factors = RopeFactors::kLlama3;
  } else if (type == "proportional") {
    rope.freq_scale = 1 / factor;
    spec.factors = RopeFactors::kProportional;
  } else if (type == "dynamic") {
    spec.dynamic_factor = factor;
  } else if (type != "none" && type != "default") {
    return hparams.unsupported(cat("scales positions by '", printable(type), "' (",
                                   hparams.key("rope.scaling.type"),
                                   "), wick knows linear, dynamic, yarn, llama3, longrope "
                                   "and proportional"));
  }
  return spec;
}

void fit_to_context(DecoderSpec& spec, int context) {
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    GqaSpec* const attention = attention_of(spec, layer);
    if (attention == nullptr || attention->dynamic_factor == 0 || context <= spec.ctx_train) {
      continue;
    }
    RopeParams& rope = attention->rope;
    const double factor = attention->dynamic_factor;
    const double growth = factor * context / spec.ctx_train - (factor - 1);
    const double exponent = rope.dim > 2 ? rope.dim / (rope.dim - 2.0) : 1;
    rope.theta = static_cast<float>(rope.theta * std::pow(growth, exponent));
  }
}

Result<Llama3Scaling> llama3_scaling(const Hparams& hparams) {
  Llama3Scaling scaling;
  WICK_TRY(scaling.theta, hparams.number_or("rope.freq_base", 1e4, 1, kMaxTheta));
  WICK_TRY(scaling.factor, hparams.number_or("rope.scaling.factor", 8, 1e-3, kMaxFactor));
  WICK_TRY(scaling.low_freq_factor,
           hparams.number_or("rope.scaling.low_freq_factor", 1, 1e-3, kMaxFactor));
  WICK_TRY(scaling.high_freq_factor,
           hparams.number_or("rope.scaling.high_freq_factor", 4, 1e-3, kMaxFactor));
  WICK_TRY(scaling.ctx_orig,
           hparams.integer_or("rope.scaling.original_context_length", 8192, 1, kMaxContext));
  if (scaling.high_freq_factor <= scaling.low_freq_factor) {
    return hparams.invalid(cat(hparams.key("rope.scaling.high_freq_factor"), " is ",
                               scaling.high_freq_factor, ", it must be above the low one, ",
                               scaling.low_freq_factor));
  }
  return scaling;
}

// The usual converter computes these in float, tensor by tensor, and 2π / f as (1 / f) * 2π;
// following it step by step gives its bits. Its power function alone may differ in the last bit
// from the correctly rounded one used here: in 232 of 43,464 frequencies tried, of which 11 reach a
// factor, none of them in a published Llama 3 (theta 500000, dim 64 or 128, factor 8 or 32).
std::vector<float> llama3_rope_factors(const Llama3Scaling& scaling, int dim) {
  const double ctx = scaling.ctx_orig;
  const auto factor = static_cast<float>(scaling.factor);
  const auto low = static_cast<float>(scaling.low_freq_factor);
  const auto range = static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
  const auto short_wave = static_cast<float>(ctx / scaling.high_freq_factor);
  const auto long_wave = static_cast<float>(ctx / scaling.low_freq_factor);
  std::vector<float> factors;
  for (int i = 0; i < dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dim);
    const double base = static_cast<float>(scaling.theta);
    const float frequency = 1 / static_cast<float>(std::pow(base, static_cast<double>(exponent)));
    const float wave = (1 / frequency) * static_cast<float>(2 * std::numbers::pi);
    if (wave < short_wave) {
      factors.push_back(1);
    } else if (wave > long_wave) {
      factors.push_back(factor);
    } else {
      const float smooth = ((1 / wave) * static_cast<float>(ctx) - low) / range;
      factors.push_back(1 / ((1 - smooth) / factor + smooth));
    }
  }
  return factors;
}

}  // namespace wick
