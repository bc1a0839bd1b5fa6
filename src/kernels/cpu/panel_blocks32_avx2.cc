// Rows of formats with blocks of 32 times many tokens, by panels (panel_avx2.h). A block of a
// panel:
//
//   4, 5 bits, 16 rows  [8 steps][2 vectors] codes; [2] d, [2] m (formats with a minimum), floats
//   8 bits, 8 rows      [8 steps][2 planes] nibbles of q + 128, low and high; d
//
// The sum of a block of 5-bit codes c does not fit 16 bits, that of c - 16 does: at most 16 * 16 *
// 127 = 32512, and adding wraps around. So a sum starts at -16 times the sum of its values of p,
// which lies ready in the activation row (offsets), and ends exact.
//
// vpmaddubsw cannot take 8-bit codes: a product of two may be 2 * 255 * 127. So they are two planes
// of nibbles, each with the bounds of a 4-bit format, and S = low + 16 * high: four instructions
// for 32 products where 16-bit codes and vpmaddwd would take the same four and twice the bytes of
// x. The chain takes the offset of 128 off again as a float, exactly: 8 * 32 * 255 * 127 < 2^24.
#include "kernels/cpu/panel_avx2.h"

namespace wick {
namespace {

// What a tile reads of its tokens; block j of the row lies j steps on.
template <int T>
struct Tokens32 {
  const std::byte* values[T];
  const std::byte* factor_pairs[T];
  const std::byte* float_sums[T];
  const std::byte* offsets[T];

  Tokens32(const ActivationLayout& layout, const std::byte* const (&x)[T]) noexcept {
    for (int t = 0; t < T; ++t) {
      values[t] = x[t] + layout.values;
      factor_pairs[t] = x[t] + layout.factor_pairs;
      float_sums[t] = x[t] + layout.float_sums;
      offsets[t] = x[t] + layout.offsets;
    }
  }

  __m256i factors(int t, std::ptrdiff_t j) const noexcept {
    return _mm256_set1_epi32(load_as<int>(factor_pairs[t] + 4 * j));
  }

  __m256 sum(int t, std::ptrdiff_t j) const noexcept {
    return _mm256_broadcast_ss(reinterpret_cast<const float*>(float_sums[t]) + j);
  }
};

inline int blocks_end(const ActivationLayout& layout, int g) noexcept {
  return 8 * g + 8 < layout.blocks ? 8 * g + 8 : layout.blocks;
}

// acc = fma(unit, sum, acc), the link of a group.
template <int V, int T>
inline void end_group(const ActivationLayout& layout, const std::byte* const (&x)[T], int g,
                      const __m256 (&sum)[V][T], __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    const __m256 unit =
        _mm256_broadcast_ss(reinterpret_cast<const float*>(x[t] + layout.units) + g);
    for (std::ptrdiff_t v = 0; v < V; ++v)
      acc[v][t] = _mm256_fmadd_ps(unit, sum[v][t], acc[v][t]);
  }
}

struct FourBits {
  static constexpr bool kIsCentred = false;

  template <class Block>
  static void unpack(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
    constexpr std::ptrdiff_t kCodesIn = offsetof(Block, qs);
    const __m256i mask = _mm256_set1_epi8(15);
    __m256i q[4];
    transpose(rows, at + kCodesIn, q);
    for (std::ptrdiff_t c = 0; c < 4; ++c) {
      store256(out + c * kPair, _mm256_and_si256(q[c], mask));
      store256(out + (4 + c) * kPair, _mm256_and_si256(_mm256_srli_epi16(q[c], 4), mask));
    }
  }
};

struct FiveBits {
  static constexpr bool kIsCentred = true;

  template <class Block>
  static void unpack(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
    constexpr std::ptrdiff_t kCodesIn = offsetof(Block, qs), kHighIn = offsetof(Block, qh);
    const __m256i mask = _mm256_set1_epi8(15);
    const auto dword = [&](int i) { return load_as<int>(rows[i] + at + kHighIn); };
    const __m256i fifth = _mm256_setr_epi32(dword(0), dword(1), dword(2), dword(3), dword(4),
                                            dword(5), dword(6), dword(7));
    __m256i q[4];
    transpose(rows, at + kCodesIn, q);
#pragma GCC unroll 4
    for (std::ptrdiff_t c = 0; c < 4; ++c) {
      store256(out + c * kPair, _mm256_or_si256(_mm256_and_si256(q[c], mask), sixteen(fifth, c)));
      store256(out + (4 + c) * kPair,
               _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(q[c], 4), mask),
                               sixteen(fifth, 4 + c)));
    }
  }

 private:
  // Bits 4 * step to 4 * step + 3 of each dword → 16 in the byte of each that is set.
  static __m256i sixteen(__m256i fifth, std::ptrdiff_t step) noexcept {
    const __m256i dwords = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404,
                                             0x08080808, 0x0c0c0c0c);
    const __m256i at = _mm256_add_epi8(dwords, _mm256_set1_epi8(static_cast<char>(step / 2)));
    const __m256i bit =
        _mm256_set1_epi32(step % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
    const __m256i bits = _mm256_and_si256(_mm256_shuffle_epi8(fifth, at), bit);
    return _mm256_and_si256(_mm256_cmpeq_epi8(bits, bit), _mm256_set1_epi8(16));
  }
};

// Formats whose eight steps fit the 16-bit sums.
template <class Format>
struct Panel16 {
  using Codes = typename Format::Codes;
  static constexpr int kVectors = 2;
  static constexpr int kGroups = 4;
  static constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(typename Format::Block);
  static constexpr std::ptrdiff_t kScalesAt = 8 * kPair;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + kPair;
  static constexpr std::ptrdiff_t kBlockBytes = kMinimaAt + (Format::kHasMin ? kPair : 0);
  static constexpr std::size_t kBytes = std::size_t{kGroups} * 8 * kBlockBytes;
  static constexpr std::ptrdiff_t kVectorAt =
      kVectorBytes;  // from one vector's codes to the other's

  static void unpack(const RowPointers& rows, const ActivationLayout& layout, const Panel& panel,
                     std::byte* out) noexcept {
    using Block = typename Format::Block;
    const int end = blocks_end(layout, panel.group + panel.groups - 1);
    for (int j = 8 * panel.group; j < end; ++j, out += kBlockBytes) {
      const std::ptrdiff_t at = j * std::ptrdiff_t{sizeof(Block)};
      Codes::template unpack<Block>(rows, at, out);
      const RowScales scales = scales_at<Format::kHasMin>(rows, at);
      store256(out + kScalesAt, scales.d);
      if constexpr (Format::kHasMin) store256(out + kMinimaAt, scales.m);
    }
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], __m256 (&acc)[kVectors][T]) noexcept {
    const Tokens32<T> tokens(layout, x);
    const std::byte* block = panel.codes;
    std::ptrdiff_t j = 8 * std::ptrdiff_t{panel.group};
    for (int g = panel.group; g < panel.group + panel.groups; ++g) {
      const std::ptrdiff_t end = blocks_end(layout, g);
      __m256 sum[kVectors][T] = {};
      for (; j < end; ++j, block += kBlockBytes) {
        __m256i s[kVectors][T];
        if constexpr (Codes::kIsCentred) start(tokens.offsets, 4 * j, s);
        dot<8, T, Codes::kIsCentred>(block, tokens.values, 32 * j, s);
#pragma GCC unroll 4
        for (int t = 0; t < T; ++t) {
          const __m256i k = tokens.factors(t, j);
          const __m256 b = tokens.sum(t, j);
#pragma GCC unroll 2
          for (std::ptrdiff_t v = 0; v < kVectors; ++v)
            sum[v][t] = link(block + v * kVectorBytes, _mm256_madd_epi16(s[v][t], k), b, sum[v][t]);
        }
      }
      end_group(layout, x, g, sum, acc);
    }
  }

 private:
  static __m256 link(const std::byte* block, __m256i s, __m256 b, __m256 sum) noexcept {
    __m256 whole = _mm256_cvtepi32_ps(s);
    if constexpr (Format::kOffset != 0)  // whole numbers below 2^24: exact
      whole = _mm256_fnmadd_ps(_mm256_set1_ps(Format::kOffset), b, whole);
    sum = _mm256_fmadd_ps(load_floats(block + kScalesAt), whole, sum);
    if constexpr (Format::kHasMin) sum = _mm256_fmadd_ps(load_floats(block + kMinimaAt), b, sum);
    return sum;
  }
};

// What is summed is q + kOffset.
struct Q4_0 {
  using Block = BlockQ4_0;
  using Codes = FourBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 8;
};

struct Q4_1 {
  using Block = BlockQ4_1;
  using Codes = FourBits;
  static constexpr bool kHasMin = true;
  static constexpr float kOffset = 0;
};

struct Q5_0 {
  using Block = BlockQ5_0;
  using Codes = FiveBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 0;
};

struct Q5_1 {
  using Block = BlockQ5_1;
  using Codes = FiveBits;
  static constexpr bool kHasMin = true;
  static constexpr float kOffset = -16;
};

struct Panel8 {
  static constexpr int kVectors = 1;
  static constexpr int kGroups = 4;
  static constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(BlockQ8_0);
  static constexpr std::ptrdiff_t kScalesAt = 8 * kPair;
  static constexpr std::ptrdiff_t kBlockBytes = kScalesAt + kVectorBytes;
  static constexpr std::size_t kBytes = std::size_t{kGroups} * 8 * kBlockBytes;
  static constexpr std::ptrdiff_t kVectorAt = 0;

  static void unpack(const RowPointers& rows, const ActivationLayout& layout, const Panel& panel,
                     std::byte* out) noexcept {
    using Block = BlockQ8_0;
    constexpr std::ptrdiff_t kCodesIn = offsetof(Block, qs);
    const __m256i mask = _mm256_set1_epi8(15);
    const __m256i offset = _mm256_set1_epi8(-128);
    const int end = blocks_end(layout, panel.group + panel.groups - 1);
    for (int j = 8 * panel.group; j < end; ++j, out += kBlockBytes) {
      const std::ptrdiff_t at = j * std::ptrdiff_t{sizeof(Block)};
      for (std::ptrdiff_t half = 0; half < 2; ++half) {
        __m256i q[4];
        transpose(rows, at + kCodesIn + 16 * half, q);
        for (std::ptrdiff_t c = 0; c < 4; ++c) {
          const __m256i u = _mm256_xor_si256(q[c], offset);
          std::byte* const step = out + (4 * half + c) * kPair;
          store256(step, _mm256_and_si256(u, mask));
          store256(step + kVectorBytes, _mm256_and_si256(_mm256_srli_epi16(u, 4), mask));
        }
      }
      store256(out + kScalesAt, scales_at<false>(rows, at).d);
    }
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], __m256 (&acc)[kVectors][T]) noexcept {
    const Tokens32<T> tokens(layout, x);
    const std::byte* block = panel.codes;
    std::ptrdiff_t j = 8 * std::ptrdiff_t{panel.group};
    for (int g = panel.group; g < panel.group + panel.groups; ++g) {
      const std::ptrdiff_t end = blocks_end(layout, g);
      __m256 sum[1][T] = {};
      for (; j < end; ++j, block += kBlockBytes) {
        __m256i s[2][T];
        dot<8, T>(block, tokens.values, 32 * j, s);
        const __m256 d = load_floats(block + kScalesAt);
#pragma GCC unroll 4
        for (int t = 0; t < T; ++t) {
          const __m256i k = tokens.factors(t, j);
          const __m256i whole = _mm256_add_epi32(
              _mm256_madd_epi16(s[0][t], k), _mm256_slli_epi32(_mm256_madd_epi16(s[1][t], k), 4));
          const __m256 q =
              _mm256_fnmadd_ps(_mm256_set1_ps(128.0f), tokens.sum(t, j), _mm256_cvtepi32_ps(whole));
          sum[0][t] = _mm256_fmadd_ps(d, q, sum[0][t]);
        }
      }
      end_group(layout, x, g, sum, acc);
    }
  }
};

}  // namespace

void panel_q4_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel16<Q4_0>>(args);
}

void panel_q4_1_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel16<Q4_1>>(args);
}

void panel_q5_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel16<Q5_0>>(args);
}

void panel_q5_1_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel16<Q5_1>>(args);
}

void panel_q8_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel8>(args);
}

}  // namespace wick
