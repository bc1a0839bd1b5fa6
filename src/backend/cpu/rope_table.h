// Cosines and sines of one kind of rotation, for every position up to a limit. A block of 64
// positions is computed when it is first asked for; address space is taken for all. Frequencies and
// angles are rounded to float where Hugging Face's transformers rounds them, so that both turn by
// the same angles; cosine and sine of the float angle are ours, in double (docs/numerics.md).
// prepare() and the reads may not run at the same time: the engine's thread prepares, then the
// phase reads.
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

// Radians a position turns each of dim / 2 pairs, as transformers computes inv_freq.
std::vector<float> rope_frequencies(const RopeParams& rope);

class RopeTable {
 public:
  static Result<RopeTable> create(const RopeParams& rope, int max_context);

  bool is_for(const RopeParams& rope) const noexcept;

  std::size_t bytes() const noexcept { return angles_.bytes(); }

  // Hot:
  void prepare(Pos pos) noexcept;  // makes the block of `pos`, unless it is there

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
