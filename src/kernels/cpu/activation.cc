// Per group of 256: a range that covers it, between its largest magnitude and twice that; the unit
// is the range over 127 * 8, and each block of 32 takes the smallest factor k of 1, 2, 4, 8 whose
// range unit * k * 127 covers it. So a block an eighth as large as its group loses no precision,
// and inside a group everything stays integer. The range is the one with the smallest rounding
// errors among those that fit some block exactly.
#include "kernels/cpu/activation.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/matmul.h"

namespace wick {
namespace {

constexpr int kGroup = 256;
constexpr int kBlock = 32;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;
constexpr float kSmallest = 0x1p-100f;  // below it 127 / max may overflow: the group counts as zero

std::uint32_t magnitude_bits(float x) noexcept {
  return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
}

// Bit patterns of magnitudes order as the numbers do, infinities and NaN above all.
std::uint32_t largest_bits(const float* x, int n) noexcept {
  std::uint32_t largest = 0;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t mine = magnitude_bits(x[i]);
    if (mine > largest) largest = mine;
  }
  return largest;
}

std::int8_t rounded(float value) noexcept {
  const float nearest = std::nearbyint(value);  // ties to even
  if (nearest > 127.0f) return 127;
  if (nearest < -127.0f) return -127;
  return static_cast<std::int8_t>(nearest);
}

struct Parts {
  float* units;
  std::int16_t* factors;
  std::int16_t* factor_pairs;
  std::int16_t* sums;
  std::int16_t* half_sums;
  float* float_sums;
  std::int16_t* offsets;
  std::int16_t* half_offsets;
  std::int32_t* shifts;
  std::int32_t* starts;
  std::int32_t* half_starts;
  std::int8_t* values;
};

template <class T>
T* part(std::byte* row, std::size_t offset) noexcept {
  return reinterpret_cast<T*>(row + offset);
}

// k = 1 << factor_shift().
int factor_shift(float largest, float range) noexcept {
  int shift = 0;
  while (shift < 3 && largest * 8.0f > range * static_cast<float>(1 << shift))
    ++shift;
  return shift;
}

// The range of a group whose blocks have the `n` magnitudes `largest`, the greatest of them `max` >
// 0. Candidates are max, then each block's magnitude times 1, 2, 4 or 8 where that lies in [max, 2
// max); errors grow with (range * k)^2. The first of the smallest counts. Ratios to max can't
// overflow to a winner: infinity is smaller than nothing.
float choose_range(const float* largest, int n, float max) noexcept {
  const auto squares = [&](float range) {
    int sum = 0;
    for (int j = 0; j < n; ++j)
      sum += 1 << 2 * factor_shift(largest[j], range);
    return static_cast<float>(sum);
  };
  float best = max, least = squares(max);
  for (int j = 0; j < n; ++j) {
    float range = largest[j];
    for (int doubled = 0; doubled < 3 && range < max; ++doubled)
      range *= 2.0f;
    if (range < max) continue;
    const float ratio = range / max;
    const float cost = ratio * ratio * squares(range);
    if (cost < least) {
      best = range;
      least = cost;
    }
  }
  return best;
}

// One block of 32 (`at` counts blocks); inverse = 127 / range.
void quantise_block(const float* x, int at, int shift, float inverse, const Parts& out) noexcept {
  const int k = 1 << shift;
  const float scale = inverse * (8.0f / static_cast<float>(k));
  int halves[2] = {0, 0};
  int words[2][2] = {{0, 0}, {0, 0}};
  for (int i = 0; i < kBlock; ++i) {
    const std::int8_t p = rounded(x[i] * scale);
    out.values[at * kBlock + i] = p;
    halves[i / 16] += p;
    words[i / 16][i / 2 % 2] += p;
  }
  const int sum = k * (halves[0] + halves[1]);
  out.factors[at] = static_cast<std::int16_t>(k);
  out.sums[at] = static_cast<std::int16_t>(sum);
  out.float_sums[at] = static_cast<float>(sum);
  out.shifts[at] = shift;
  out.starts[at] = -128 * (halves[0] + halves[1]);
  for (int h = 0; h < 2; ++h) {
    out.factor_pairs[2 * at + h] = static_cast<std::int16_t>(k);
    out.half_sums[2 * at + h] = static_cast<std::int16_t>(k * halves[h]);
    out.half_starts[2 * at + h] = -128 * halves[h];
    out.offsets[2 * at + h] = static_cast<std::int16_t>(-16 * (words[0][h] + words[1][h]));
    for (int word = 0; word < 2; ++word)
      out.half_offsets[4 * at + 2 * h + word] = static_cast<std::int16_t>(-32 * words[h][word]);
  }
}

}  // namespace

ActivationLayout activation_layout(int width) noexcept {
  WICK_CHECK(width > 0 && width % kBlock == 0,
             "an activation row is a whole number of blocks of 32");
  ActivationLayout layout = {
      .width = width, .groups = (width + kGroup - 1) / kGroup, .blocks = width / kBlock};
  const auto take = [&layout](std::size_t bytes_per_group) {
    const std::size_t at = layout.bytes;
    const std::size_t bytes = bytes_per_group * static_cast<std::size_t>(layout.groups);
    layout.bytes += (bytes + 63) / 64 * 64;
    return at;
  };
  layout.units = take(sizeof(float));
  layout.factors = take(8 * sizeof(std::int16_t));
  layout.factor_pairs = take(16 * sizeof(std::int16_t));
  layout.sums = take(8 * sizeof(std::int16_t));
  layout.half_sums = take(16 * sizeof(std::int16_t));
  layout.float_sums = take(8 * sizeof(float));
  layout.offsets = take(16 * sizeof(std::int16_t));
  layout.half_offsets = take(32 * sizeof(std::int16_t));
  layout.shifts = take(8 * sizeof(std::int32_t));
  layout.starts = take(8 * sizeof(std::int32_t));
  layout.half_starts = take(16 * sizeof(std::int32_t));
  layout.values = take(kGroup);
  return layout;
}

ActivationRow activation_row(const ActivationLayout& layout, const std::byte* row) noexcept {
  return {.units = reinterpret_cast<const float*>(row + layout.units),
          .factors = reinterpret_cast<const std::int16_t*>(row + layout.factors),
          .sums = reinterpret_cast<const std::int16_t*>(row + layout.sums),
          .half_sums = reinterpret_cast<const std::int16_t*>(row + layout.half_sums),
          .values = reinterpret_cast<const std::int8_t*>(row + layout.values)};
}

void quantise_scalar(const float* x, const ActivationLayout& layout, std::byte* out) noexcept {
  std::memset(out, 0, layout.bytes);
  const Parts parts = {.units = part<float>(out, layout.units),
                       .factors = part<std::int16_t>(out, layout.factors),
                       .factor_pairs = part<std::int16_t>(out, layout.factor_pairs),
                       .sums = part<std::int16_t>(out, layout.sums),
                       .half_sums = part<std::int16_t>(out, layout.half_sums),
                       .float_sums = part<float>(out, layout.float_sums),
                       .offsets = part<std::int16_t>(out, layout.offsets),
                       .half_offsets = part<std::int16_t>(out, layout.half_offsets),
                       .shifts = part<std::int32_t>(out, layout.shifts),
                       .starts = part<std::int32_t>(out, layout.starts),
                       .half_starts = part<std::int32_t>(out, layout.half_starts),
                       .values = part<std::int8_t>(out, layout.values)};
  for (int g = 0; g < layout.groups; ++g) {
    const int begin = g * kGroup;
    const int n = layout.width - begin < kGroup ? layout.width - begin : kGroup;
    const std::uint32_t bits = largest_bits(x + begin, n);
    const bool is_finite = bits < kInfinityBits;
    float max = is_finite ? std::bit_cast<float>(bits) : 0.0f;
    if (max < kSmallest) max = 0.0f;
    const int first = begin / kBlock, blocks = n / kBlock;
    float largest[kGroup / kBlock];
    for (int j = 0; j < blocks; ++j)
      largest[j] = std::bit_cast<float>(largest_bits(x + begin + j * kBlock, kBlock));
    const float range = max > 0.0f ? choose_range(largest, blocks, max) : 0.0f;
    parts.units[g] = is_finite ? range / 127.0f / 8.0f : std::bit_cast<float>(0x7fc00000u);
    for (int j = 0; j < blocks; ++j) {
      static constexpr float kZeros[kBlock] = {};
      const bool is_zero = range == 0.0f;
      quantise_block(is_zero ? kZeros : x + begin + j * kBlock, first + j,
                     is_zero ? 0 : factor_shift(largest[j], range), is_zero ? 0.0f : 127.0f / range,
                     parts);
    }
  }
}

}  // namespace wick
