#include "backend/cpu/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "backend/cpu/weight.h"
#include "base/check.h"
#include "base/strings.h"

namespace wick {
namespace {

// YaRN's correction: the pair whose wavelength fits `rotations` times into the trained context.
double correction_dim(const RopeParams& rope, double rotations) {
  return rope.dim * std::log(rope.ctx_orig / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(static_cast<double>(rope.theta)));
}

// Mixes each frequency with its interpolated self: pairs below `low` keep theirs, pairs above
// `high` are interpolated, a ramp between (Peng et al. 2023, section 3.2).
void mix_yarn(const RopeParams& rope, std::vector<float>& frequencies) {
  const double last = rope.dim - 1;
  const double first_mixed = correction_dim(rope, rope.beta_fast);
  const double last_mixed = correction_dim(rope, rope.beta_slow);
  const double low = std::max(rope.is_range_rounded ? std::floor(first_mixed) : first_mixed, 0.0);
  double high = std::min(rope.is_range_rounded ? std::ceil(last_mixed) : last_mixed, last);
  if (low == high) high += 0.001;
  const float factor = 1 / rope.freq_scale;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const auto place = static_cast<float>((static_cast<double>(i) - low) / (high - low));
    const float ramp = std::clamp(place, 0.0F, 1.0F) * rope.ext_factor;
    const float keep = 1 - ramp;
    frequencies[i] = frequencies[i] / factor * (1 - keep) + frequencies[i] * keep;
  }
}

}  // namespace

CosSin cos_sin(double x) noexcept {
  // x = n pi/2 + r: pi/2 is taken away in three parts. The first two have 21 bits or more of zeros
  // at their end, so their products with n < 2^31 … are exact for n < 2^21 and close beyond.
  constexpr double kFirst = 1.57079632673412561417e+00;
  constexpr double kSecond = 6.07710050630396597660e-11;
  constexpr double kThird = 2.02226624879595063154e-21;
  const double n = std::floor(x * (2 / std::numbers::pi) + 0.5);
  const double r = ((x - n * kFirst) - n * kSecond) - n * kThird;
  const double z = r * r;
  // Taylor series on [-pi/4, pi/4]: the first term left out is below 1e-15.
  double sine = -1.0 / 1307674368000.0;
  for (const double term : {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0,
                            1.0 / 120.0, -1.0 / 6.0, 1.0}) {
    sine = sine * z + term;
  }
  sine *= r;
  double cosine = 1.0 / 20922789888000.0;
  for (const double term : {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                            1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -1.0 / 2.0, 1.0}) {
    cosine = cosine * z + term;
  }
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

std::vector<float> rope_frequencies(const RopeParams& rope) {
  std::vector<float> frequencies(static_cast<std::size_t>(rope.dim / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rope.dim);
    const auto power = static_cast<float>(
        std::pow(static_cast<double>(rope.theta), static_cast<double>(exponent)));
    frequencies[i] = 1 / power;
  }
  if (rope.ext_factor != 0) {
    mix_yarn(rope, frequencies);
  } else if (rope.freq_scale != 1) {
    const float factor = 1 / rope.freq_scale;
    for (float& frequency : frequencies)
      frequency /= factor;
  }
  if (rope.factors != nullptr) {
    const std::vector<float>& divisors = as_cpu(*rope.factors).values;
    for (std::size_t i = 0; i < frequencies.size(); ++i)
      frequencies[i] /= divisors[i];
  }
  return frequencies;
}

Result<RopeTable> RopeTable::create(const RopeParams& rope, int max_context) {
  if (rope.dim < 2 || rope.dim % 2 != 0 || !(rope.theta > 1) || !(rope.freq_scale > 0)) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "rope_unfit",
                 .message = cat("rotation of ", rope.dim, " features with base ", rope.theta,
                                " and scale ", rope.freq_scale,
                                " is not possible: an even number, a base above 1 and a positive "
                                "scale are"),
                 .hint = "check the rope keys of the model's metadata"};
  }
  if (rope.ext_factor != 0 && rope.ctx_orig < 1) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "rope_unfit",
                 .message = "YaRN scaling needs the original context length, the model gives none",
                 .hint = "check rope.scaling.original_context_length in the model's metadata"};
  }
  const auto half = static_cast<std::size_t>(rope.dim / 2);
  if (rope.factors != nullptr && as_cpu(*rope.factors).values.size() < half) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "rope_unfit",
                 .message = cat("the model brings ", as_cpu(*rope.factors).values.size(),
                                " rope frequency factors, ", half, " are needed"),
                 .hint = "compare the tensor rope_freqs.weight with the model's original"};
  }
  RopeTable table;
  table.rope_ = rope;
  table.frequencies_ = rope_frequencies(rope);
  const auto blocks = static_cast<std::size_t>((max_context + kBlock - 1) / kBlock);
  table.is_made_.resize(blocks);
  WICK_TRY(table.angles_, AlignedBuffer::create(blocks * kBlock * 2 * half * sizeof(float)));
  return table;
}

bool RopeTable::is_for(const RopeParams& rope) const noexcept {
  return rope_.layout == rope.layout && rope_.dim == rope.dim && rope_.theta == rope.theta &&
         rope_.freq_scale == rope.freq_scale && rope_.ext_factor == rope.ext_factor &&
         rope_.attn_factor == rope.attn_factor && rope_.beta_fast == rope.beta_fast &&
         rope_.beta_slow == rope.beta_slow && rope_.ctx_orig == rope.ctx_orig &&
         rope_.is_range_rounded == rope.is_range_rounded && rope_.factors == rope.factors;
}

void RopeTable::prepare(Pos pos) noexcept {
  const auto block = static_cast<std::size_t>(pos / kBlock);
  WICK_CHECK(pos >= 0 && block < is_made_.size(), "a position is below max_context");
  if (is_made_[block] != 0) return;
  is_made_[block] = 1;
  const std::size_t half = frequencies_.size();
  const auto first = static_cast<std::size_t>(pos / kBlock * kBlock);
  float* out = angles_.as<float>() + first * 2 * half;
  for (std::size_t p = first; p < first + kBlock; ++p, out += 2 * half) {
    for (std::size_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(p) * frequencies_[i];
      const CosSin at = cos_sin(static_cast<double>(angle));
      out[i] = static_cast<float>(at.cosine) * rope_.attn_factor;
      out[half + i] = static_cast<float>(at.sine) * rope_.attn_factor;
    }
  }
}

}  // namespace wick
