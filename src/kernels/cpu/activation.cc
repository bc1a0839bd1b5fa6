// Per group of 256: the group scale is the group's largest magnitude over 127 * 8, and each block
// of 32 takes the smallest block scale k of 1, 2, 4, 8 whose range group_scale * k * 127 covers it.
// So a block an eighth as large as its group loses no precision, and inside a group everything
// stays integer.
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
  float* group_scales;
  std::int16_t* block_scales;
  std::int16_t* block_scale_pairs;
  std::int16_t* sums;
  std::int16_t* half_sums;
  float* float_sums;
  std::int16_t* word_compensations;
  std::int16_t* half_word_compensations;
  std::int32_t* shifts;
  std::int32_t* compensations;
  std::int32_t* half_compensations;
  std::int8_t* values;
  std::int16_t* int16s;  // nullptr: not wanted
};

template <class T>
T* part(std::byte* row, std::size_t offset) noexcept {
  return reinterpret_cast<T*>(row + offset);
}

// The values times the block's scale k, in the order of matmul_args.h.
void widen(const std::int8_t* values, int block_scale, std::int16_t* int16s) noexcept {
  for (int i = 0; i < kBlock / 2; ++i) {
    int16s[i] = static_cast<std::int16_t>(block_scale * values[2 * i]);
    int16s[kBlock / 2 + i] = static_cast<std::int16_t>(block_scale * values[2 * i + 1]);
  }
}

// One block of 32 (`at` counts blocks); inverse = 127 / max of the group.
void quantize_block(const float* x, int at, float max, float inverse, const Parts& out) noexcept {
  const float largest = std::bit_cast<float>(largest_bits(x, kBlock));
  int shift = 0;
  while (shift < 3 && largest * 8.0f > max * static_cast<float>(1 << shift))
    ++shift;
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
  out.block_scales[at] = static_cast<std::int16_t>(k);
  out.sums[at] = static_cast<std::int16_t>(sum);
  out.float_sums[at] = static_cast<float>(sum);
  out.shifts[at] = shift;
  out.compensations[at] = -128 * (halves[0] + halves[1]);
  for (int h = 0; h < 2; ++h) {
    out.block_scale_pairs[2 * at + h] = static_cast<std::int16_t>(k);
    out.half_sums[2 * at + h] = static_cast<std::int16_t>(k * halves[h]);
    out.half_compensations[2 * at + h] = -128 * halves[h];
    out.word_compensations[2 * at + h] =
        static_cast<std::int16_t>(-16 * (words[0][h] + words[1][h]));
    for (int word = 0; word < 2; ++word)
      out.half_word_compensations[4 * at + 2 * h + word] =
          static_cast<std::int16_t>(-32 * words[h][word]);
  }
  if (out.int16s != nullptr) widen(out.values + at * kBlock, k, out.int16s + at * kBlock);
}

}  // namespace

ActivationLayout activation_layout(int width, bool has_int16) noexcept {
  WICK_CHECK(width > 0 && width % kBlock == 0,
             "an activation row is a whole number of blocks of 32");
  ActivationLayout layout = {.width = width,
                             .groups = (width + kGroup - 1) / kGroup,
                             .blocks = width / kBlock,
                             .has_int16 = has_int16};
  const auto take = [&layout](std::size_t bytes_per_group) {
    const std::size_t at = layout.bytes;
    const std::size_t bytes = bytes_per_group * static_cast<std::size_t>(layout.groups);
    layout.bytes += (bytes + 63) / 64 * 64;
    return at;
  };
  layout.group_scales = take(sizeof(float));
  layout.block_scales = take(8 * sizeof(std::int16_t));
  layout.block_scale_pairs = take(16 * sizeof(std::int16_t));
  layout.sums = take(8 * sizeof(std::int16_t));
  layout.half_sums = take(16 * sizeof(std::int16_t));
  layout.float_sums = take(8 * sizeof(float));
  layout.word_compensations = take(16 * sizeof(std::int16_t));
  layout.half_word_compensations = take(32 * sizeof(std::int16_t));
  layout.shifts = take(8 * sizeof(std::int32_t));
  layout.compensations = take(8 * sizeof(std::int32_t));
  layout.half_compensations = take(16 * sizeof(std::int32_t));
  layout.values = take(kGroup);
  layout.int16s = take(has_int16 ? kGroup * sizeof(std::int16_t) : 0);
  return layout;
}

ActivationRow activation_row(const ActivationLayout& layout, const std::byte* row) noexcept {
  return {.group_scales = reinterpret_cast<const float*>(row + layout.group_scales),
          .block_scales = reinterpret_cast<const std::int16_t*>(row + layout.block_scales),
          .sums = reinterpret_cast<const std::int16_t*>(row + layout.sums),
          .half_sums = reinterpret_cast<const std::int16_t*>(row + layout.half_sums),
          .values = reinterpret_cast<const std::int8_t*>(row + layout.values)};
}

void residual(const float* x, const ActivationLayout& layout, const std::byte* row,
              float* out) noexcept {
  const ActivationRow parts = activation_row(layout, row);
  for (int at = 0; at < layout.blocks; ++at) {
    const float group_scale = parts.group_scales[at / (kGroup / kBlock)];
    const int k = parts.block_scales[at];
    for (int i = at * kBlock; i < (at + 1) * kBlock; ++i)
      out[i] = x[i] - group_scale * static_cast<float>(k * parts.values[i]);
  }
}

void quantize_scalar(const float* x, const ActivationLayout& layout, std::byte* out) noexcept {
  std::memset(out, 0, layout.bytes);
  const Parts parts = {
      .group_scales = part<float>(out, layout.group_scales),
      .block_scales = part<std::int16_t>(out, layout.block_scales),
      .block_scale_pairs = part<std::int16_t>(out, layout.block_scale_pairs),
      .sums = part<std::int16_t>(out, layout.sums),
      .half_sums = part<std::int16_t>(out, layout.half_sums),
      .float_sums = part<float>(out, layout.float_sums),
      .word_compensations = part<std::int16_t>(out, layout.word_compensations),
      .half_word_compensations = part<std::int16_t>(out, layout.half_word_compensations),
      .shifts = part<std::int32_t>(out, layout.shifts),
      .compensations = part<std::int32_t>(out, layout.compensations),
      .half_compensations = part<std::int32_t>(out, layout.half_compensations),
      .values = part<std::int8_t>(out, layout.values),
      .int16s = layout.has_int16 ? part<std::int16_t>(out, layout.int16s) : nullptr};
  for (int g = 0; g < layout.groups; ++g) {
    const int begin = g * kGroup;
    const int n = layout.width - begin < kGroup ? layout.width - begin : kGroup;
    const std::uint32_t bits = largest_bits(x + begin, n);
    const bool is_finite = bits < kInfinityBits;
    float max = is_finite ? std::bit_cast<float>(bits) : 0.0f;
    if (max < kSmallest) max = 0.0f;
    parts.group_scales[g] = is_finite ? max / 127.0f / 8.0f : std::bit_cast<float>(0x7fc00000u);
    for (int at = begin / kBlock; at < (begin + n) / kBlock; ++at) {
      static constexpr float kZeros[kBlock] = {};
      const float* block = max > 0.0f ? x + std::ptrdiff_t{at} * kBlock : kZeros;
      quantize_block(block, at, max, max > 0.0f ? 127.0f / max : 0.0f, parts);
    }
  }
}

}  // namespace wick
