// How encoders choose scales: by trying a few and keeping the one with the least squared error.
// Stateless, any thread; deterministic. Written to be plain, not fast: about 20 passes over a
// block.
//
//   const AffineScale s = fit_affine(x, 15);             // x[i] ≈ s.scale * q - s.min, q in 0..15
//   const TwoLevel t = fit_two_level(x256, 8, 15, 63);   // the same for the parts of a super-block
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/blocks.h"

namespace wick {

inline constexpr int kSuperBlock = 256;     // weights that share one pair of f16 scales
inline constexpr int kMaxSearchParts = 16;  // sub-blocks of a super-block, at most

// The whole number nearest to `value`, ties to even, held to low..high; `low` for NaN.
int nearest(float value, int low, int high) noexcept;

// `value` cut to a whole number and held to 0..high; 0 for NaN. Callers add the half that rounds.
int truncated(float value, int high) noexcept;

// The element of largest magnitude, with its sign (the first of several); 0 if x is empty.
float extreme(std::span<const float> x) noexcept;

bool all_finite(std::span<const float> x) noexcept;

// x[i] ≈ scale * q - min with q in 0..q_max; scale >= 0 and min >= 0, as the K formats store them.
struct AffineScale {
  float scale = 0;
  float min = 0;
};

AffineScale fit_affine(std::span<const float> x, int q_max) noexcept;

// x[i] ≈ scale * q with q in -half..half-1; the scale may be negative, so that the extreme of x
// can use the one quant more on the negative side.
float fit_signed(std::span<const float> x, int half) noexcept;

// The entry of kIq4Values with index q, 0..15.
inline float iq4_value(int q) noexcept {
  return kIq4Values[q];
}

// Index of the entry of kIq4Values nearest to `value`, the lower of two at the same distance.
int nearest_iq4(float value) noexcept;

// x[i] ≈ scale * kIq4Values[q]; the scale may be negative.
float fit_iq4(std::span<const float> x) noexcept;

// Part j of a super-block has the scale d * scale[j] and the minimum dmin * min[j].
struct TwoLevel {
  std::uint16_t d_f16 = 0;
  std::uint16_t dmin_f16 = 0;
  std::array<std::uint8_t, kMaxSearchParts> scale = {};  // 0..level_max
  std::array<std::uint8_t, kMaxSearchParts> min = {};    // 0..level_max

  AffineScale part(int j) const noexcept;  // as a decoder computes it
};

// x holds n_parts parts of equal length.
TwoLevel fit_two_level(std::span<const float, kSuperBlock> x, int n_parts, int q_max,
                       int level_max) noexcept;

// The quant in 0..q_max that brings scale * q - min nearest to x; 0 if the scale is 0.
int affine_quant(float x, AffineScale s, int q_max) noexcept;

// Part j of a super-block has the scale d * scale[j], scale[j] in -level_half..level_half-1.
struct TwoLevelSigned {
  std::uint16_t d_f16 = 0;
  std::array<std::int8_t, kMaxSearchParts> scale = {};

  float part(int j) const noexcept;  // as a decoder computes it
};

// `wanted` holds the scale that each part would like to have.
TwoLevelSigned round_scales(std::span<const float> wanted, int level_half) noexcept;

// x / scale, the value to round to a quant; 0 if the scale is 0.
float in_steps(float x, float scale) noexcept;

}  // namespace wick
