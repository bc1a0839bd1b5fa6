// The cos/sin table of one kind of RoPE, for every position up to a limit. Address space is
// reserved for all; a block of 64 positions is computed at first use. Frequencies and angles are
// rounded to float where Hugging Face's transformers rounds them, so that the angles are equal;
// cosine and sine of the float angle are computed in double (docs/numerics.md). prepare() and reads
// must not run concurrently: the engine thread prepares, then the phase reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/aligned.h"

namespace wick {

// cos and sin of x (|x| < 2^31) to within 1e-14, by the same additions and multiplications on every
// processor.
struct CosSin {
  double cosine = 1, sine = 0;
};

CosSin cos_sin(double x) noexcept;

// Radians per position for each of dim / 2 pairs: transformers' inv_freq.
std::vector<float> rope_frequencies(const RopeParams& rope);

class RopeTable {
 public:
  static Result<RopeTable> create(const RopeParams& rope, int max_context);

  bool is_for(const RopeParams& rope) const noexcept;

  std::size_t bytes() const noexcept { return angles_.bytes(); }

  // Hot:
  void prepare(Pos pos) noexcept;  // computes the block of `pos` if needed

  const float* cosines(Pos pos) const noexcept { return row(pos); }  // [dim / 2], times attn_factor

  const float* sines(Pos pos) const noexcept { return row(pos) + frequencies_.size(); }

 private:
  static constexpr Pos kBlock = 64;

  const float* row(Pos pos) const noexcept {
    return angles_.as<float>() + static_cast<std::size_t>(pos) * 2 * frequencies_.size();
  }

  RopeParams rope_ = {};
  std::vector<float> frequencies_ = {};
  std::vector<std::uint8_t> is_made_ = {};  // by block
  AlignedBuffer angles_ = {};               // [positions][cos, sin][dim / 2]
};

}  // namespace wick
