// quantise_scalar (activation.cc) in AVX2: the same operations, eight values at a time.
#include "kernels/cpu/matmul_avx2.h"

namespace wick {
namespace {

constexpr int kGroup = 256;
constexpr int kBlock = 32;

// Largest magnitude of 32 values as a bit pattern; patterns of magnitudes order as numbers do.
inline std::uint32_t largest_bits(const float* x) noexcept {
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  __m256i largest = _mm256_and_si256(load256(x), mask);
  for (int i = 8; i < kBlock; i += 8) {
    largest = _mm256_max_epi32(largest, _mm256_and_si256(load256(x + i), mask));
  }
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(m));
}

inline float as_float(std::uint32_t bits) noexcept {
  return load_as<float>(&bits);
}

// clamp(rne(x * scale)) of 32 values, in order. The saturation of the packs never acts.
inline __m256i rounded(const float* x, float scale) noexcept {
  const __m256 s = _mm256_set1_ps(scale);
  __m256i q[4];
  for (int i = 0; i < 4; ++i) {
    __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), s);
    v = _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(-127.0f)), _mm256_set1_ps(127.0f));
    q[i] = _mm256_cvtps_epi32(v);
  }
  const __m256i bytes =
      _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

struct Parts {
  std::int16_t* factors;
  std::uint32_t* factor_pairs;
  std::int16_t* sums;
  std::int16_t* half_sums;
  float* float_sums;
  std::int32_t* offsets;
  std::int32_t* half_offsets;
  std::int32_t* shifts;
  std::int32_t* starts;
  std::int32_t* half_starts;
  std::int8_t* values;
};

inline void store_block(int at, int shift, __m256i p, const Parts& out) noexcept {
  const int k = 1 << shift;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.values + at * kBlock), p);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), p);
  __m256i s = _mm256_madd_epi16(pairs, _mm256_set1_epi16(static_cast<short>(k)));
  s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0x4e));
  s = _mm256_add_epi32(s, _mm256_shuffle_epi32(s, 0xb1));
  const int first = _mm256_cvtsi256_si32(s);
  const int second = _mm256_extract_epi32(s, 4);
  out.factors[at] = static_cast<std::int16_t>(k);
  out.factor_pairs[at] = static_cast<std::uint32_t>(k) * 0x10001u;
  out.sums[at] = static_cast<std::int16_t>(first + second);
  out.float_sums[at] = static_cast<float>(first + second);
  out.shifts[at] = shift;
  out.starts[at] = -(128 >> shift) * (first + second);
  out.half_starts[2 * at] = -(128 >> shift) * first;
  out.half_starts[2 * at + 1] = -(128 >> shift) * second;
  out.half_sums[2 * at] = static_cast<std::int16_t>(first);
  out.half_sums[2 * at + 1] = static_cast<std::int16_t>(second);
  __m256i words = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0x4e));
  words = _mm256_add_epi16(words, _mm256_shuffle_epi32(words, 0xb1));
  words = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(words, 4));
  const __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
  out.offsets[at] = _mm_cvtsi128_si32(_mm_add_epi16(low, high));
  out.half_offsets[2 * at] = _mm_cvtsi128_si32(_mm_add_epi16(low, low));
  out.half_offsets[2 * at + 1] = _mm_cvtsi128_si32(_mm_add_epi16(high, high));
}

// The group at block `begin` of n blocks; returns its unit.
inline float quantise_group(const float* x, int begin, int n, const Parts& out) noexcept {
  std::uint32_t largest[8];
  std::uint32_t bits = 0;
  for (int j = 0; j < n; ++j) {
    largest[j] = largest_bits(x + (begin + j) * kBlock);
    if (largest[j] > bits) bits = largest[j];
  }
  const bool is_finite = bits < 0x7f800000u;
  float max = is_finite ? as_float(bits) : 0.0f;
  if (max < 0x1p-100f) max = 0.0f;
  const float inverse = max > 0.0f ? 127.0f / max : 0.0f;
  for (int j = 0; j < n; ++j) {
    int shift = 0;
    __m256i p = _mm256_setzero_si256();
    if (max > 0.0f) {
      const float mine = as_float(largest[j]) * 8.0f;
      while (shift < 3 && mine > max * static_cast<float>(1 << shift))
        ++shift;
      p = rounded(x + (begin + j) * kBlock, inverse * static_cast<float>(8 >> shift));
    }
    store_block(begin + j, shift, p, out);
  }
  return is_finite ? max / 127.0f / 8.0f : as_float(0x7fc00000u);
}

}  // namespace

void quantise_avx2(const float* x, const ActivationLayout& layout, std::byte* out) noexcept {
  const Parts parts = {.factors = reinterpret_cast<std::int16_t*>(out + layout.factors),
                       .factor_pairs = reinterpret_cast<std::uint32_t*>(out + layout.factor_pairs),
                       .sums = reinterpret_cast<std::int16_t*>(out + layout.sums),
                       .half_sums = reinterpret_cast<std::int16_t*>(out + layout.half_sums),
                       .float_sums = reinterpret_cast<float*>(out + layout.float_sums),
                       .offsets = reinterpret_cast<std::int32_t*>(out + layout.offsets),
                       .half_offsets = reinterpret_cast<std::int32_t*>(out + layout.half_offsets),
                       .shifts = reinterpret_cast<std::int32_t*>(out + layout.shifts),
                       .starts = reinterpret_cast<std::int32_t*>(out + layout.starts),
                       .half_starts = reinterpret_cast<std::int32_t*>(out + layout.half_starts),
                       .values = reinterpret_cast<std::int8_t*>(out + layout.values)};
  float* units = reinterpret_cast<float*>(out + layout.units);
  // What no block covers is zero: the rounding up of each part to 64 bytes, a short last group.
  __builtin_memset(out, 0, layout.values);
  const std::size_t last = static_cast<std::size_t>(layout.groups - 1) * kGroup;
  __builtin_memset(out + layout.values + last, 0, layout.bytes - layout.values - last);
  for (int g = 0; g < layout.groups; ++g) {
    const int begin = 8 * g;
    const int n = layout.blocks - begin < 8 ? layout.blocks - begin : 8;
    units[g] = quantise_group(x, begin, n, parts);
  }
}

}  // namespace wick
