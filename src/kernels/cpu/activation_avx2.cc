// quantize_scalar (activation.cc) in AVX2: the same operations, eight values at a time, and what
// goes with the values for four blocks at a time.
// Hot: all of it.
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

// Where group g of a row lies, by part.
struct GroupParts {
  std::byte* row;
  const ActivationLayout& layout;
  std::size_t group;

  std::byte* at(std::size_t part, std::size_t bytes_per_group) const noexcept {
    return row + part + bytes_per_group * group;
  }
};

inline void store128(std::byte* at, __m128i v) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), v);
}

inline void store256(std::byte* at, __m256i v) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), v);
}

// Dwords of the first halves of four blocks and of the second ones → block by block.
inline __m256i interleave(__m256i halves) noexcept {
  const __m128i first = _mm256_castsi256_si128(halves);
  const __m128i second = _mm256_extracti128_si256(halves, 1);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi32(first, second)),
                                 _mm_unpackhi_epi32(first, second), 1);
}

inline __m128i add_halves(__m256i v) noexcept {
  return _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

inline __m256i negated(__m256i v) noexcept {
  return _mm256_sub_epi32(_mm256_setzero_si256(), v);
}

// Everything but the values of the four blocks p, which are blocks 4 * quad .. of the group; k is 0
// after the row's end.
inline void store_sums(const __m256i (&p)[4], __m128i shift, __m128i k, std::size_t quad,
                       const GroupParts& out) noexcept {
  const ActivationLayout& l = out.layout;
  const auto pairs = [&](int j) { return _mm256_maddubs_epi16(_mm256_set1_epi8(1), p[j]); };
  // Two word sums of each half block: dwords of the first halves, then of the second ones.
  const __m256i words =
      merge_four<16>(merge_two<16>(pairs(0), pairs(1)), merge_two<16>(pairs(2), pairs(3)));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i offsets = _mm256_sub_epi16(zero, _mm256_slli_epi16(words, 4));
  const __m128i block_offsets =
      _mm_add_epi16(_mm256_castsi256_si128(offsets), _mm256_extracti128_si256(offsets, 1));
  store128(out.at(l.word_compensations, 32) + 16 * quad, block_offsets);
  store256(out.at(l.half_word_compensations, 64) + 32 * quad,
           interleave(_mm256_add_epi16(offsets, offsets)));

  const __m256i halves = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
  const __m128i blocks = add_halves(halves);
  store256(out.at(l.half_compensations, 64) + 32 * quad,
           interleave(negated(_mm256_slli_epi32(halves, 7))));
  store128(out.at(l.compensations, 32) + 16 * quad,
           _mm_sub_epi32(_mm_setzero_si128(), _mm_slli_epi32(blocks, 7)));

  const __m256i scaled = interleave(_mm256_sllv_epi32(halves, _mm256_broadcastsi128_si256(shift)));
  const __m128i sums = _mm_sllv_epi32(blocks, shift);
  store128(out.at(l.half_sums, 32) + 16 * quad,
           _mm_packs_epi32(_mm256_castsi256_si128(scaled), _mm256_extracti128_si256(scaled, 1)));
  store128(out.at(l.float_sums, 32) + 16 * quad, _mm_castps_si128(_mm_cvtepi32_ps(sums)));
  store128(out.at(l.block_scale_pairs, 32) + 16 * quad, _mm_or_si128(k, _mm_slli_epi32(k, 16)));
  store128(out.at(l.shifts, 32) + 16 * quad, shift);
  const auto store64 = [](std::byte* at, __m128i v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at), _mm_packs_epi32(v, v));
  };
  store64(out.at(l.sums, 16) + 8 * quad, sums);
  store64(out.at(l.block_scales, 16) + 8 * quad, k);
}

// k * p of the block of 32 values p in 16 bits: values 4i and 4i + 2, then 4i + 1 and 4i + 3.
inline void store_wide(__m256i p, int k, std::byte* at) noexcept {
  const __m256i block_scale = _mm256_set1_epi16(static_cast<short>(k));
  const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(p, 8), 8);
  store256(at, _mm256_mullo_epi16(even, block_scale));
  store256(at + 32, _mm256_mullo_epi16(_mm256_srai_epi16(p, 8), block_scale));
}

// The first n <= 8 blocks of a group from x; returns its group scale.
inline float quantize_group(const float* x, int n, const GroupParts& out) noexcept {
  alignas(32) float largest[8] = {};
  std::uint32_t bits = 0;
  for (int j = 0; j < n; ++j) {
    const std::uint32_t mine = largest_bits(x + j * kBlock);
    largest[j] = as_float(mine);
    if (mine > bits) bits = mine;
  }
  const bool is_finite = bits < 0x7f800000u;
  float max = is_finite ? as_float(bits) : 0.0f;
  if (max < 0x1p-100f) max = 0.0f;
  const float inverse = max > 0.0f ? 127.0f / max : 0.0f;
  // log2 k: how many of max, 2 max and 4 max are below 8 times the block's largest.
  const __m256 mine = _mm256_mul_ps(_mm256_load_ps(largest), _mm256_set1_ps(8.0f));
  __m256i shift = _mm256_setzero_si256();
  for (int step = 1; step <= 4; step *= 2) {
    const __m256 limit = _mm256_set1_ps(max * static_cast<float>(step));
    const __m256 is_more = _mm256_cmp_ps(mine, limit, _CMP_GT_OQ);
    shift = _mm256_sub_epi32(shift, _mm256_castps_si256(is_more));
  }
  if (!(max > 0.0f)) shift = _mm256_setzero_si256();
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i is_inside = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), index);
  const __m256i k = _mm256_and_si256(_mm256_sllv_epi32(_mm256_set1_epi32(1), shift), is_inside);
  const __m256i eighths = _mm256_srlv_epi32(_mm256_set1_epi32(8), shift);
  alignas(32) int block_scale[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(block_scale), k);
  alignas(32) float scale[8];
  _mm256_store_ps(scale, _mm256_mul_ps(_mm256_set1_ps(inverse), _mm256_cvtepi32_ps(eighths)));
  __m256i p[2][4] = {};
  for (int j = 0; j < n; ++j) {
    if (max > 0.0f) p[j / 4][j % 4] = rounded(x + j * kBlock, scale[j]);
    store256(out.at(out.layout.values, kGroup) + kBlock * j, p[j / 4][j % 4]);
    if (out.layout.has_int16)
      store_wide(p[j / 4][j % 4], block_scale[j], out.at(out.layout.int16s, 2 * kGroup) + 64 * j);
  }
  store_sums(p[0], _mm256_castsi256_si128(shift), _mm256_castsi256_si128(k), 0, out);
  store_sums(p[1], _mm256_extracti128_si256(shift, 1), _mm256_extracti128_si256(k, 1), 1, out);
  return is_finite ? max / 127.0f / 8.0f : as_float(0x7fc00000u);
}

}  // namespace

void quantize_avx2(const float* x, const ActivationLayout& layout, std::byte* out) noexcept {
  float* group_scales = reinterpret_cast<float*>(out + layout.group_scales);
  // What no block covers is zero: the rounding up of each part to 64 bytes, a short last group.
  __builtin_memset(out, 0, layout.values);
  const std::size_t last = static_cast<std::size_t>(layout.groups - 1) * kGroup;
  __builtin_memset(out + layout.values + last, 0, layout.int16s - layout.values - last);
  if (layout.has_int16)
    __builtin_memset(out + layout.int16s + 2 * last, 0, layout.bytes - layout.int16s - 2 * last);
  for (int g = 0; g < layout.groups; ++g) {
    const int begin = 8 * g;
    const int n = layout.blocks - begin < 8 ? layout.blocks - begin : 8;
    group_scales[g] =
        quantize_group(x + begin * kBlock, n,
                       {.row = out, .layout = layout, .group = static_cast<std::size_t>(g)});
  }
}

}  // namespace wick
