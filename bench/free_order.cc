// What wick's fixed order of arithmetic costs a one-token product: beside each kernel one that adds
// in whatever order is cheapest, eight float lanes a row and one horizontal sum at its end, from
// the same activations. AVX2 only; one thread; processor time; the two take turns.
//
//   bench_free_order [KIB of weights] [WIDTH]
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "bench/measure.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul.h"
#include "quant/blocks.h"

#define WICK_AVX2 __attribute__((target("avx2,fma,f16c")))

namespace {

using namespace wick;

struct Activations {
  const std::byte* row;
  ActivationLayout layout;
};

template <class T>
T as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

WICK_AVX2 float half_at(const std::byte* at) {
  return _cvtsh_ss(as<unsigned short>(at));
}

WICK_AVX2 __m256i load(const std::byte* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

WICK_AVX2 __m128i load128(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

WICK_AVX2 float sum_of_lanes(__m256 v) {
  __m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  a = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

// `in` + d * k * (the 16-bit sums), in eight lanes.
WICK_AVX2 __m256 add_block(const Activations& x, int j, float d, __m256i sums, __m256 in) {
  const __m256i k = _mm256_set1_epi32(as<int>(x.row + x.layout.block_scale_pairs + 4 * j));
  return _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(_mm256_madd_epi16(sums, k)), in);
}

WICK_AVX2 float q8_0_row(const std::byte* w, const Activations& x) {
  __m256 acc = _mm256_setzero_ps();
  for (int g = 0; g < x.layout.groups; ++g) {
    __m256 in = _mm256_setzero_ps();
    for (int j = 8 * g; j < std::min(8 * g + 8, x.layout.blocks); ++j, w += sizeof(BlockQ8_0)) {
      const __m256i q = load(w + 2), p = load(x.row + x.layout.values + 32 * j);
      in = add_block(x, j, half_at(w),
                     _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(p, q)), in);
    }
    acc =
        _mm256_fmadd_ps(_mm256_set1_ps(as<float>(x.row + x.layout.group_scales + 4 * g)), in, acc);
  }
  return sum_of_lanes(acc);
}

WICK_AVX2 float q4_1_row(const std::byte* w, const Activations& x) {
  const __m256i nibble = _mm256_set1_epi8(15);
  __m256 acc = _mm256_setzero_ps();
  float minima = 0;
  for (int g = 0; g < x.layout.groups; ++g) {
    const float group_scale = as<float>(x.row + x.layout.group_scales + 4 * g);
    __m256 in = _mm256_setzero_ps();
    float minimum = 0;
    for (int j = 8 * g; j < std::min(8 * g + 8, x.layout.blocks); ++j, w += sizeof(BlockQ4_1)) {
      const __m128i n = load128(w + 4);
      const __m256i q = _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(n, 4), n), nibble);
      const __m256i p = load(x.row + x.layout.values + 32 * j);
      in = add_block(x, j, half_at(w), _mm256_maddubs_epi16(q, p), in);
      minimum += half_at(w + 2) * as<float>(x.row + x.layout.float_sums + 4 * j);
    }
    acc = _mm256_fmadd_ps(_mm256_set1_ps(group_scale), in, acc);
    minima += group_scale * minimum;
  }
  return sum_of_lanes(acc) + minima;
}

// Eight 6-bit scales and eight minima, a byte each.
WICK_AVX2 __m128i scales_and_minima(const std::byte* packed) {
  const auto a = as<std::uint32_t>(packed), b = as<std::uint32_t>(packed + 4);
  const auto c = as<std::uint32_t>(packed + 8);
  const auto low = [](std::uint32_t v) { return static_cast<int>(v & 0x3f3f3f3fU); };
  const auto high = [](std::uint32_t nibbles, std::uint32_t v) {
    return static_cast<int>((nibbles & 0x0f0f0f0fU) | ((v >> 6 & 0x03030303U) << 4));
  };
  return _mm_setr_epi32(low(a), high(c, a), low(b), high(c >> 4, b));
}

WICK_AVX2 float q4_k_row(const std::byte* w, const Activations& x) {
  const __m256i nibble = _mm256_set1_epi8(15);
  __m256 acc = _mm256_setzero_ps();
  float minima = 0;
  for (int g = 0; g < x.layout.groups; ++g, w += sizeof(BlockQ4_K)) {
    const __m256i both = _mm256_cvtepu8_epi16(scales_and_minima(w + 4));
    const __m128i scale = _mm_mullo_epi16(_mm256_castsi256_si128(both),
                                          load128(x.row + x.layout.block_scales + 16 * g));
    __m128i m =
        _mm_madd_epi16(_mm256_extracti128_si256(both, 1), load128(x.row + x.layout.sums + 16 * g));
    m = _mm_hadd_epi32(m, m);
    m = _mm_hadd_epi32(m, m);
    __m256i pick = _mm256_set1_epi16(0x0100), in = _mm256_setzero_si256();
    const __m256i scales = _mm256_set_m128i(scale, scale), next = _mm256_set1_epi16(0x0202);
    const std::byte* p = x.row + x.layout.values + 256 * g;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i q = load(w + 16 + 32 * i);
      const __m256i low = _mm256_maddubs_epi16(_mm256_and_si256(q, nibble), load(p + 64 * i));
      const __m256i high = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(q, 4), nibble),
                                                load(p + 64 * i + 32));
      in = _mm256_add_epi32(in, _mm256_madd_epi16(low, _mm256_shuffle_epi8(scales, pick)));
      pick = _mm256_add_epi8(pick, next);
      in = _mm256_add_epi32(in, _mm256_madd_epi16(high, _mm256_shuffle_epi8(scales, pick)));
      pick = _mm256_add_epi8(pick, next);
    }
    const float group_scale = as<float>(x.row + x.layout.group_scales + 4 * g);
    acc = _mm256_fmadd_ps(_mm256_set1_ps(group_scale * half_at(w)), _mm256_cvtepi32_ps(in), acc);
    minima -= group_scale * half_at(w + 2) * static_cast<float>(_mm_cvtsi128_si32(m));
  }
  return sum_of_lanes(acc) + minima;
}

struct Case {
  const char* name;
  DType type;
  float (*row)(const std::byte* w, const Activations& x);
};

void measure(const Case& c, const std::vector<std::byte>& weights, int width,
             const Activations& x) {
  constexpr int kRounds = 41;
  constexpr std::size_t kRoundBytes = 16 << 20;
  const std::size_t row = *row_bytes(c.type, width);
  const int rows = static_cast<int>(weights.size() / row);
  const std::size_t bytes = row * static_cast<std::size_t>(rows);
  const int repeats = static_cast<int>(kRoundBytes / bytes) + 1;
  const MatmulFn fixed = matmul_kernels(Isa::kAvx2).matmul[static_cast<int>(c.type)];
  std::vector<float> y(static_cast<std::size_t>(rows)), z(y.size());
  std::vector<double> fixed_speed, free_speed, ratios;
  for (int round = 0; round < kRounds; ++round) {
    const double t0 = seconds();
    for (int i = 0; i < repeats; ++i) {
      fixed({.w = weights.data(),
             .row_bytes = row,
             .width = width,
             .row_end = rows,
             .x = x.row,
             .x_stride = x.layout.bytes,
             .n_tokens = 1,
             .y = y.data(),
             .y_stride = rows});
    }
    const double t1 = seconds();
    for (int i = 0; i < repeats; ++i) {
      for (std::size_t r = 0; r < z.size(); ++r)
        z[r] = c.row(weights.data() + r * row, x);
      __asm__ volatile("" : : "r"(z.data()) : "memory");
    }
    const double t2 = seconds();
    const double gb = static_cast<double>(bytes) * repeats * 1e-9;
    fixed_speed.push_back(gb / (t1 - t0));
    free_speed.push_back(gb / (t2 - t1));
    ratios.push_back((t2 - t1) / (t1 - t0));
  }
  float most = 0;  // both orders compute the same thing
  for (std::size_t r = 0; r < y.size(); ++r)
    most = std::max(most, std::fabs(y[r] - z[r]) / (1e-2F + std::fabs(y[r])));
  std::printf("%s: fixed order %.1f GB/s, free order %.1f GB/s, ratio %.2f; differ by %.0e\n",
              c.name, spread(fixed_speed).median, spread(free_speed).median, spread(ratios).median,
              static_cast<double>(most));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t kib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 256;
  const int width = argc > 2 ? std::atoi(argv[2]) : 1536;
  if (!is_supported(Isa::kAvx2) || kib < 64 || width < 256 || width % 256 != 0) {
    std::fprintf(stderr,
                 "usage, with AVX2: bench_free_order [KIB >= 64] [WIDTH, a multiple of 256]\n");
    return 2;
  }
  // Bytes 0x11 to 0x2f: as halves they are small and finite.
  std::vector<std::byte> weights(kib << 10);
  std::mt19937 random(1);
  for (std::byte& b : weights)
    b = static_cast<std::byte>((random() & 0x1eU) | 0x11U);
  const ActivationLayout layout = activation_layout(width);
  std::vector<std::byte> storage(layout.bytes + 64);
  std::byte* x = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64);
  std::vector<float> values(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i));
  matmul_kernels(Isa::kAvx2).quantize(values.data(), layout, x);
  for (const Case& c : {Case{"Q8_0", DType::kQ8_0, q8_0_row}, Case{"Q4_1", DType::kQ4_1, q4_1_row},
                        Case{"Q4_K", DType::kQ4_K, q4_k_row}})
    measure(c, weights, width, {x, layout});
  return 0;
}
