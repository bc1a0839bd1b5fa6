// Rows of formats with super-blocks times many tokens, by panels (panel_avx2.h). A super-block of
// 256 weights, everything for each of two vectors of eight rows:
//
//   [64 steps][2] quants; [parts] scales, 16 bits, twice; [kScales / 2] minima 2i and 2i + 1, 16
//   bits (formats with a minimum); d, dmin, floats
//
// A part is what has a scale and fits the 16-bit sums: a block of 32 (quants to 15), or half of one
// (4 * 7874 = 31496 for 5-bit quants). Quants of Q6_K are 0..63; four products of two would need
// 64008. But with q = quant - 32 the sum is at most 16 * 32 * 127 / 2 = 32512, and adding wraps
// around: so a sum starts at -32 times the sum of its values of p, which lies ready in the
// activation row (half_word_compensations), and ends exact. Quants of Q3_K are q + 4; eight times
// them are 8q + 32, and the factor of eight leaves the exact integer at the end.
// Hot: all of it.
#include "kernels/cpu/panel_avx2.h"

namespace wick {
namespace {

// What a tile reads of its tokens; group g lies g steps of 256 values on.
template <int T>
struct TokensK {
  const std::byte* values[T];
  const std::byte* block_scale_pairs[T];
  const std::byte* compensations[T];  // what sums start at, where they do

  TokensK(const ActivationLayout& layout, const std::byte* const (&x)[T]) noexcept {
    for (int t = 0; t < T; ++t) {
      values[t] = x[t] + layout.values;
      block_scale_pairs[t] = x[t] + layout.block_scale_pairs;
      compensations[t] = x[t] + layout.half_word_compensations;
    }
  }
};

template <class Format>
struct PanelK {
  static_assert(Format::kMaxQuant <= 63);
  static constexpr bool kIsCentred = Format::kOffset != 0;
  static constexpr int kShift = kIsCentred && Format::kOffset == 4 ? 3 : 0;
  static_assert(!kIsCentred || Format::kOffset << kShift == 32);
  static constexpr int kParts = Format::kScales == 8 && Format::kMaxQuant <= 15 ? 8 : 16;

  static constexpr bool kReadsInt16 = false;
  static constexpr int kVectors = 2;
  static constexpr std::ptrdiff_t kStride = kVectors * kVectorBytes;
  static constexpr std::ptrdiff_t kScalesAt = 64 * kPair;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + kParts * kStride;
  static constexpr int kMinima = Format::kHasMin ? Format::kScales / 2 : 0;
  static constexpr std::ptrdiff_t kSuperAt = kMinimaAt + kMinima * kStride;
  static constexpr std::ptrdiff_t kSuperBytes = kSuperAt + (Format::kHasMin ? 2 : 1) * kStride;

  static constexpr int kTokens = 4;
  static constexpr int kGroups = 4, kFewGroups = kGroups;
  static constexpr std::size_t kTokenCache = kTokenBytes;
  static constexpr std::ptrdiff_t kGroupBytes = sizeof(typename Format::Block);
  static constexpr std::size_t kBytes = std::size_t{kGroups} * kSuperBytes;
  static_assert(kBytes <= kPanelBytes);

  static void unpack(const RowPointers& rows, const ActivationLayout&, const Panel& panel,
                     std::byte* out) noexcept {
    for (int g = panel.group; g < panel.group + panel.groups; ++g, out += kSuperBytes)
      Unpack<Format>::run(rows, g * kGroupBytes, Out{out});
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], const Accumulators& accumulators,
                       Prefetcher& prefetcher) noexcept {
    __m256 acc[kVectors][T];
    load_accumulators(panel, accumulators, acc);
    const TokensK<T> tokens(layout, x);
    const std::byte* block = panel.quants;
    for (int g = panel.group; g < panel.group + panel.groups; ++g, block += kSuperBytes) {
      prefetcher.prefetch_share();
      __m256i total[2][T] = {};
      add_parts(block, tokens, g, total);
      for (int t = 0; t < T; ++t) {
        const __m256 group_scale =
            _mm256_broadcast_ss(reinterpret_cast<const float*>(x[t] + layout.group_scales) + g);
        const std::byte* const sums = kMinima == 4
                                          ? x[t] + layout.sums + 16 * std::ptrdiff_t{g}
                                          : x[t] + layout.half_sums + 32 * std::ptrdiff_t{g};
        for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
          const __m256 term = term_of(block + v * kVectorBytes, total[v][t], sums);
          acc[v][t] = _mm256_fmadd_ps(group_scale, term, acc[v][t]);
        }
      }
    }
    store_accumulators(accumulators, acc);
  }

 private:
  // Where one vector of eight rows of a super-block goes.
  struct Out {
    static constexpr int kAdd = 0;
    std::byte* to;

    void quants(std::ptrdiff_t step, __m256i quants) const noexcept {
      store(step, _mm256_slli_epi16(quants, kShift));
    }

    void store(std::ptrdiff_t step, __m256i quants) const noexcept {
      store256(to + step * kPair, quants);
    }

    void scale(std::ptrdiff_t i, __m256i words) const noexcept {
      constexpr std::ptrdiff_t kRepeat = kParts / Format::kScales;
      for (std::ptrdiff_t part = kRepeat * i; part < kRepeat * (i + 1); ++part)
        store256(to + kScalesAt + part * kStride, words);
    }

    void minima(std::ptrdiff_t i, __m256i words) const noexcept {
      store256(to + kMinimaAt + i * kStride, words);
    }

    void super(const RowScales& scales) const noexcept {
      store256(to + kSuperAt, scales.d);
      if constexpr (Format::kHasMin) store256(to + kSuperAt + kStride, scales.m);
    }
  };

  // total += sum of scale * k * S.
  template <int T>
  static void add_parts(const std::byte* block, const TokensK<T>& tokens, int g,
                        __m256i (&total)[2][T]) noexcept {
    constexpr int kSteps = 64 / kParts;
    const std::byte* quants = block;
    const std::byte* scales = block + kScalesAt;
    std::ptrdiff_t at = std::ptrdiff_t{g} * 256;
    for (int p = 0; p < kParts;
         ++p, quants += kSteps * kPair, scales += kStride, at += 4 * kSteps) {
      __m256i s[2][T];
      if constexpr (kIsCentred) start_at_compensation(tokens.compensations, at / kSteps, s);
      dot<ByteProducts, kSteps, T, kIsCentred>(quants, tokens.values, at, s);
      const __m256i scale[2] = {load256(scales), load256(scales + kVectorBytes)};
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t) {
        const __m256i k =
            _mm256_set1_epi32(load_as<int>(tokens.block_scale_pairs[t] + at / 32 * 4));
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v) {
          const __m256i product = _mm256_madd_epi16(s[v][t], _mm256_mullo_epi16(scale[v], k));
          total[v][t] = _mm256_add_epi32(total[v][t], product);
        }
      }
    }
  }

  // t of docs/numerics.md.
  static __m256 term_of(const std::byte* block, __m256i total, const std::byte* sums) noexcept {
    const __m256i whole = _mm256_srai_epi32(total, kShift);
    const __m256 term = _mm256_mul_ps(load_floats(block + kSuperAt), _mm256_cvtepi32_ps(whole));
    if constexpr (!Format::kHasMin) return term;
    __m256i minima = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (std::ptrdiff_t i = 0; i < kMinima; ++i) {
      const __m256i pair = _mm256_set1_epi32(load_as<int>(sums + 4 * i));
      minima = _mm256_add_epi32(minima,
                                _mm256_madd_epi16(load256(block + kMinimaAt + i * kStride), pair));
    }
    return _mm256_fnmadd_ps(load_floats(block + kSuperAt + kStride), _mm256_cvtepi32_ps(minima),
                            term);
  }
};

}  // namespace

void panel_q2_k_avx2(const MatmulArgs& args) noexcept {
  run_panels<PanelK<Q2_K>>(args);
}

void panel_q3_k_avx2(const MatmulArgs& args) noexcept {
  run_panels<PanelK<Q3_K>>(args);
}

void panel_q4_k_avx2(const MatmulArgs& args) noexcept {
  run_panels<PanelK<Q4_K>>(args);
}

void panel_q5_k_avx2(const MatmulArgs& args) noexcept {
  run_panels<PanelK<Q5_K>>(args);
}

void panel_q6_k_avx2(const MatmulArgs& args) noexcept {
  run_panels<PanelK<Q6_K>>(args);
}

}  // namespace wick
