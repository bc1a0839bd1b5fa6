// Rows of formats with blocks of 32 times many tokens, by panels (panel_avx2.h). A block of a
// panel:
//
//   [8 steps][2 vectors] quants; [2] d, [2] m (formats with a minimum), floats
//
// The sum of a block of 5-bit quants c does not fit 16 bits, that of c - 16 does: at most 16 * 16 *
// 127 = 32512, and adding wraps around. So a sum starts at -16 times the sum of its values of p,
// which lies ready in the activation row (offsets), and ends exact. Quants of Q4_0 are q + 16 for
// the same reason: that costs less than taking 8 off as a float, as the chain does with what is
// left of the format's offset (exactly: all whole numbers below 2^24).
// Hot: all of it.
#include "kernels/cpu/panel_avx2.h"

namespace wick {
namespace {

// What a tile reads of its tokens; block j of the row lies j steps on.
template <int T>
struct Tokens32 {
  const std::byte* values[T];
  const std::byte* block_scale_pairs[T];
  const std::byte* float_sums[T];
  const std::byte* word_compensations[T];

  Tokens32(const ActivationLayout& layout, const std::byte* const (&x)[T]) noexcept {
    for (int t = 0; t < T; ++t) {
      values[t] = x[t] + layout.values;
      block_scale_pairs[t] = x[t] + layout.block_scale_pairs;
      float_sums[t] = x[t] + layout.float_sums;
      word_compensations[t] = x[t] + layout.word_compensations;
    }
  }

  __m256i block_scales(int t, std::ptrdiff_t j) const noexcept {
    return _mm256_set1_epi32(load_as<int>(block_scale_pairs[t] + 4 * j));
  }

  __m256 sum(int t, std::ptrdiff_t j) const noexcept {
    return _mm256_broadcast_ss(reinterpret_cast<const float*>(float_sums[t]) + j);
  }
};

template <class Format>
struct Panel32 {
  static_assert(Format::kMaxQuant <= 31);
  static constexpr bool kIsCentred = Format::kOffset != 0 || Format::kMaxQuant > 15;
  // Quants in the panel are q + kOffset; the sums' start takes kCentre off.
  static constexpr int kOffset = Format::kOffset == 8 ? 16 : Format::kOffset;
  static constexpr int kCentre = kIsCentred ? 16 : 0;

  static constexpr bool kReadsInt16 = false;
  static constexpr int kVectors = 2;
  static constexpr int kTokens = 4;
  static constexpr int kGroups = 4, kFewGroups = kGroups;
  static constexpr std::size_t kTokenCache = kTokenBytes;
  static constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(typename Format::Block);
  static constexpr std::ptrdiff_t kScalesAt = 8 * kPair;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + kVectors * kVectorBytes;
  static constexpr std::ptrdiff_t kBlockBytes =
      kMinimaAt + (Format::kHasMin ? kVectors * kVectorBytes : 0);
  static constexpr std::size_t kBytes = std::size_t{kGroups} * 8 * kBlockBytes;
  static_assert(kBytes <= kPanelBytes);

  static void unpack(const RowPointers& rows, const ActivationLayout& layout, const Panel& panel,
                     std::byte* out) noexcept {
    const std::ptrdiff_t end = blocks_end(layout, panel.group + panel.groups - 1);
    for (std::ptrdiff_t j = 8 * panel.group; j < end; ++j, out += kBlockBytes) {
      const std::ptrdiff_t at = j * std::ptrdiff_t{sizeof(typename Format::Block)};
      unpack_block32<Format, kOffset>(rows, at, [out](std::ptrdiff_t step, __m256i quants) {
        store256(out + step * kPair, quants);
      });
      const RowScales scales = scales_at<Format>(rows, at);
      store256(out + kScalesAt, scales.d);
      if constexpr (Format::kHasMin) store256(out + kMinimaAt, scales.m);
    }
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], const Accumulators& accumulators,
                       Prefetcher& prefetcher) noexcept {
    __m256 acc[kVectors][T];
    load_accumulators(panel, accumulators, acc);
    const Tokens32<T> tokens(layout, x);
    const std::byte* block = panel.quants;
    std::ptrdiff_t j = 8 * std::ptrdiff_t{panel.group};
    for (int g = panel.group; g < panel.group + panel.groups; ++g) {
      prefetcher.prefetch_share();
      const std::ptrdiff_t end = blocks_end(layout, g);
      __m256 sum[kVectors][T] = {};
      for (; j < end; ++j, block += kBlockBytes) {
        __m256i s[2][T];
        if constexpr (kIsCentred) start_at_compensation(tokens.word_compensations, 4 * j, s);
        dot<ByteProducts, 8, T, kIsCentred>(block, tokens.values, 32 * j, s);
#pragma GCC unroll 4
        for (int t = 0; t < T; ++t) {
          const __m256i k = tokens.block_scales(t, j);
          const __m256 b = tokens.sum(t, j);
          const __m256i whole[2] = {_mm256_madd_epi16(s[0][t], k), _mm256_madd_epi16(s[1][t], k)};
#pragma GCC unroll 2
          for (std::ptrdiff_t v = 0; v < kVectors; ++v)
            sum[v][t] = add_block(block + v * kVectorBytes, whole[v], b, sum[v][t]);
        }
      }
      end_group(layout, x, g, sum, acc);
    }
    store_accumulators(accumulators, acc);
  }

 private:
  static __m256 add_block(const std::byte* block, __m256i s, __m256 b, __m256 sum) noexcept {
    __m256 whole = _mm256_cvtepi32_ps(s);
    if constexpr (kOffset != kCentre)
      whole = _mm256_fnmadd_ps(_mm256_set1_ps(kOffset - kCentre), b, whole);
    sum = _mm256_fmadd_ps(load_floats(block + kScalesAt), whole, sum);
    if constexpr (Format::kHasMin) sum = _mm256_fmadd_ps(load_floats(block + kMinimaAt), b, sum);
    return sum;
  }
};

}  // namespace

void panel_q4_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel32<Q4_0>>(args);
}

void panel_q4_1_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel32<Q4_1>>(args);
}

void panel_q5_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel32<Q5_0>>(args);
}

void panel_q5_1_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel32<Q5_1>>(args);
}

void panel_mxfp4_avx2(const MatmulArgs& args) noexcept {
  run_panels<Panel32<MXFP4>>(args);
}

}  // namespace wick
