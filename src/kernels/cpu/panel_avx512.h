// Products with many tokens by AVX-512 VNNI, in panels (panel_loop_avx2.h) of 32 rows: four vectors
// of eight, two registers of sixteen. A tile is 32 rows times six tokens.
//
// vpdpbusd adds four products of an unsigned and a signed byte to each lane in 32 bits, so every
// format's quants become q + 128 and one loop serves them all: the sums start at -128 times the sum
// of the values, which lies ready in the activation row, and end as S. A group of a panel:
//
//   blocks of 32   for each block: [8 steps][32 rows][4] quants; [32] d, [32] m, floats
//   super-blocks   [64 steps][32 rows][4] quants; [kScales][32] scale and 256 * scale, 16 bits;
//                  [kScales / 2][32] minima 2i and 2i + 1, 16 bits; [32] d, [32] dmin, floats
//
// A token's four values are broadcast into a register and meet both registers of quants: three
// loads for two vpdpbusd of one token, eight for twelve of six; as memory operands they would be
// fourteen. Twelve sums, twelve results, two quants and a broadcast fill 27 of 32 registers; the
// accumulators stay in y, which is touched once for 256 weights. No shuffle, no spill in the loops
// over steps: tests/kernel_loops_test.py holds the compiler to that. At the end of a super-block's
// part each sum is shuffled once (split_words).
//
// Bound: the pipes of vpdpbusd. Cost for 32 weights of 32 rows and six tokens: 96 vpdpbusd, 64
// loads, and for blocks of 32 twelve shifts, conversions and fma besides. On Zen 4 all multiplies
// share two pipes of 256 bits, so each costs one vpdpbusd; loads, shifts, adds and conversions cost
// nothing beside them (measured, docs/kernels/q4_1.md).
// Hot: all of it.
#pragma once

#include "kernels/cpu/avx512.h"
#include "kernels/cpu/panel_loop_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

constexpr int kVectors512 = 4;
constexpr std::ptrdiff_t kRow32Bytes = 128;        // four bytes of each row
constexpr std::size_t kPanelBytes512 = 96 * 1024;  // of the second-level cache
// Of activations, in the same; a kernel reads 60 % of them.
constexpr std::size_t kTokenBytes512 = 768 * 1024;

// Keeps a sum in its register at this point of the program (panel_avx2.h, pin()), even if nothing
// reads it (peak_avx512).
inline void pin512(__m512i& v) noexcept {
#if defined(WICK_SIMDE)
  (void)v;
#else
  __asm__ volatile("" : "+v"(v));
#endif
}

inline __m512i spread(const std::byte* dword) noexcept {
  return _mm512_set1_epi32(load_as<int>(dword));
}

inline __m512 load_floats512(const std::byte* at) noexcept {
  return _mm512_castsi512_ps(load512(at));
}

// sums += quants * values over kSteps steps; they start at the dword of each token at `at`.
template <int kSteps, int T>
inline void dot512(const std::byte* quants, const std::byte* const (&values)[T], std::ptrdiff_t at,
                   __m512i (&sums)[2][T]) noexcept {
#pragma GCC unroll 8
  for (int i = 0; i < kSteps; ++i) {
    const __m512i w0 = load512(quants + i * kRow32Bytes);
    const __m512i w1 = load512(quants + i * kRow32Bytes + 64);
#pragma GCC unroll 6
    for (int t = 0; t < T; ++t) {
      const __m512i p = spread(values[t] + at + 4 * i);
      sums[0][t] = _mm512_dpbusd_epi32(sums[0][t], w0, p);
      sums[1][t] = _mm512_dpbusd_epi32(sums[1][t], w1, p);
      pin512(sums[0][t]);
      pin512(sums[1][t]);
    }
  }
}

// The data that a tile reads of its tokens. All of it is at a fixed distance from the values, so
// one pointer per token suffices.
template <int T>
struct Tokens512 {
  const std::byte* rows[T];
  std::ptrdiff_t values, shifts, compensations;

  Tokens512(const ActivationLayout& layout, std::size_t compensations_at,
            const std::byte* const (&x)[T]) noexcept
      : values(static_cast<std::ptrdiff_t>(layout.values)),
        shifts(static_cast<std::ptrdiff_t>(layout.shifts)),
        compensations(static_cast<std::ptrdiff_t>(compensations_at)) {
    for (int t = 0; t < T; ++t)
      rows[t] = x[t];
  }
};

// S of kSteps steps, from the values at `value` on; `part` counts what has a start.
template <int kSteps, int T>
inline void sums_of_part(const std::byte* quants, const Tokens512<T>& tokens, std::ptrdiff_t part,
                         __m512i (&sums)[2][T]) noexcept {
#pragma GCC unroll 6
  for (int t = 0; t < T; ++t)
    sums[0][t] = sums[1][t] = spread(tokens.rows[t] + tokens.compensations + 4 * part);
  dot512<kSteps, T>(quants, tokens.rows, tokens.values + part * kSteps * 4, sums);
}

// The last fma of a group: acc = fma(group_scale, term, acc), the first one from 0. As a function
// of its own the terms would go through memory.
template <int T>
[[gnu::always_inline]] inline void end_group512(const ActivationLayout& layout,
                                                const std::byte* const (&x)[T], int g,
                                                const __m512 (&term)[2][T],
                                                const Accumulators& accumulators) noexcept {
  const auto has_begun = static_cast<__mmask16>(g == 0 ? 0 : -1);
#pragma GCC unroll 6
  for (int t = 0; t < T; ++t) {
    const __m512 group_scale =
        _mm512_castsi512_ps(spread(x[t] + layout.group_scales + 4 * static_cast<std::size_t>(g)));
    for (int v = 0; v < 2; ++v) {
      float* const y = accumulators.at(t) + 16 * v;
      const __m512 acc = _mm512_maskz_mov_ps(has_begun, _mm512_loadu_ps(y));
      _mm512_storeu_ps(y, _mm512_fmadd_ps(group_scale, term[v][t], acc));
    }
  }
}

template <class Format>
struct Panel512 {
  static constexpr bool kReadsInt16 = false;
  static constexpr int kVectors = kVectors512;
  static constexpr int kTokens = 6;
  static constexpr int kGroups = 8, kFewGroups = 2;
  static constexpr std::size_t kTokenCache = kTokenBytes512;
  static constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(typename Format::Block);
  static constexpr std::ptrdiff_t kScalesAt = 8 * kRow32Bytes;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + kRow32Bytes;
  static constexpr std::ptrdiff_t kBlockBytes = kMinimaAt + (Format::kHasMin ? kRow32Bytes : 0);
  static constexpr std::size_t kBytes = std::size_t{kGroups} * 8 * kBlockBytes;
  static_assert(kBytes <= kPanelBytes512);

  static void unpack(const RowPointers& rows, const ActivationLayout& layout, const Panel& panel,
                     std::byte* out) noexcept {
    const std::ptrdiff_t end = blocks_end(layout, panel.group + panel.groups - 1);
    for (std::ptrdiff_t j = 8 * panel.group; j < end; ++j, out += kBlockBytes) {
      const std::ptrdiff_t at = j * std::ptrdiff_t{sizeof(typename Format::Block)};
      unpack_block32<Format, 128>(rows, at, [out](std::ptrdiff_t step, __m256i quants) {
        store256(out + step * kRow32Bytes, quants);
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
    const Tokens512<T> tokens(layout, layout.compensations, x);
    const std::byte* block = panel.quants;
    std::ptrdiff_t j = 8 * std::ptrdiff_t{panel.group};
    for (int g = panel.group; g < panel.group + panel.groups; ++g) {
      prefetcher.prefetch_share();
      const std::ptrdiff_t end = blocks_end(layout, g);
      __m512 sum[2][T] = {};
      for (; j < end; ++j, block += kBlockBytes) {
        __m512i s[2][T];
        sums_of_part<8>(block, tokens, j, s);
        add_blocks(block, tokens, layout, j, s, sum);
      }
      end_group512(layout, x, g, sum, accumulators);
    }
  }

 private:
  // sum = fma(d, float(k * S), sum), and with a minimum sum = fma(m, float(k * B), sum).
  template <int T>
  static void add_blocks(const std::byte* block, const Tokens512<T>& tokens,
                         const ActivationLayout& layout, std::ptrdiff_t j, const __m512i (&s)[2][T],
                         __m512 (&sum)[2][T]) noexcept {
    const __m512 d[2] = {load_floats512(block + kScalesAt), load_floats512(block + kScalesAt + 64)};
#pragma GCC unroll 6
    for (int t = 0; t < T; ++t) {
      const __m512i shift = spread(tokens.rows[t] + tokens.shifts + 4 * j);
      for (int v = 0; v < 2; ++v) {
        const __m512 whole = _mm512_cvtepi32_ps(_mm512_sllv_epi32(s[v][t], shift));
        sum[v][t] = _mm512_fmadd_ps(d[v], whole, sum[v][t]);
      }
    }
    if constexpr (Format::kHasMin) {
      const __m512 m[2] = {load_floats512(block + kMinimaAt),
                           load_floats512(block + kMinimaAt + 64)};
#pragma GCC unroll 6
      for (int t = 0; t < T; ++t) {
        const __m512 b = _mm512_castsi512_ps(spread(tokens.rows[t] + layout.float_sums + 4 * j));
        for (int v = 0; v < 2; ++v)
          sum[v][t] = _mm512_fmadd_ps(m[v], b, sum[v][t]);
      }
    }
  }
};

template <class Format>
struct SuperPanel512 {
  static constexpr int kParts = Format::kScales, kSteps = 64 / kParts;
  static constexpr int kMinima = Format::kHasMin ? kParts / 2 : 0;
  static constexpr bool kReadsInt16 = false;
  static constexpr int kVectors = kVectors512;
  static constexpr int kTokens = 6;
  static constexpr int kGroups = 8, kFewGroups = 2;
  static constexpr std::size_t kTokenCache = kTokenBytes512;
  static constexpr std::ptrdiff_t kGroupBytes = sizeof(typename Format::Block);
  static constexpr std::ptrdiff_t kScalesAt = 64 * kRow32Bytes;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + kParts * kRow32Bytes;
  static constexpr std::ptrdiff_t kSuperAt = kMinimaAt + kMinima * kRow32Bytes;
  static constexpr std::ptrdiff_t kSuperBytes = kSuperAt + (Format::kHasMin ? 2 : 1) * kRow32Bytes;
  static constexpr std::size_t kBytes = std::size_t{kGroups} * kSuperBytes;
  static_assert(kBytes <= kPanelBytes512);

  static void unpack(const RowPointers& rows, const ActivationLayout&, const Panel& panel,
                     std::byte* out) noexcept {
    for (int g = panel.group; g < panel.group + panel.groups; ++g, out += kSuperBytes)
      Unpack<Format>::run(rows, g * kGroupBytes, Out{out});
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], const Accumulators& accumulators,
                       Prefetcher& prefetcher) noexcept {
    const Tokens512<T> tokens(layout,
                              kParts == 8 ? layout.compensations : layout.half_compensations, x);
    const std::byte* block = panel.quants;
    for (int g = panel.group; g < panel.group + panel.groups; ++g, block += kSuperBytes) {
      prefetcher.prefetch_share();
      __m512i total[2][T] = {};
      for (std::ptrdiff_t p = 0; p < kParts; ++p)
        add_part(block, tokens, p, kParts * std::ptrdiff_t{g} + p, total);
      __m512 term[2][T];
      const std::byte* sums[T];
      for (int t = 0; t < T; ++t)
        sums[t] = kMinima == 4 ? x[t] + layout.sums + 16 * std::ptrdiff_t{g}
                               : x[t] + layout.half_sums + 32 * std::ptrdiff_t{g};
#pragma GCC unroll 6
      for (int t = 0; t < T; ++t) {
        for (std::ptrdiff_t v = 0; v < 2; ++v)
          term[v][t] = term_of(block + 64 * v, total[v][t], sums[t]);
      }
      end_group512(layout, x, g, term, accumulators);
    }
  }

 private:
  // Where one vector of eight rows of a super-block goes.
  struct Out {
    static constexpr int kAdd = 128 - Format::kOffset;
    std::byte* to;

    void quants(std::ptrdiff_t step, __m256i quants) const noexcept {
      store(step, plus<kAdd>(quants));
    }

    void store(std::ptrdiff_t step, __m256i quants) const noexcept {
      store256(to + step * kRow32Bytes, quants);
    }

    void scale(std::ptrdiff_t i, __m256i words) const noexcept {
      store256(to + kScalesAt + i * kRow32Bytes,
               _mm256_blend_epi16(words, _mm256_slli_epi16(words, 8), 0xaa));
    }

    void minima(std::ptrdiff_t i, __m256i words) const noexcept {
      store256(to + kMinimaAt + i * kRow32Bytes, words);
    }

    void super(const RowScales& scales) const noexcept {
      store256(to + kSuperAt, scales.d);
      if constexpr (Format::kHasMin) store256(to + kSuperAt + kRow32Bytes, scales.m);
    }
  };

  // Each dword n, below 2^23 in magnitude (k * S is: docs/numerics.md), as the words n mod 256 and
  // n / 256, so that one vpdpwssd by scale and 256 * scale adds scale * n. A multiply of 32 bits
  // would be two instructions to Intel's processors, and the addition a third.
  static __m512i split_words(__m512i n) noexcept {
    const __m128i places = _mm_setr_epi8(0, -1, 1, 2, 4, -1, 5, 6, 8, -1, 9, 10, 12, -1, 13, 14);
    return _mm512_shuffle_epi8(n, _mm512_broadcast_i32x4(places));
  }

  // total += scale * k * S of part p of the super-block, which is part `at` of the row.
  template <int T>
  static void add_part(const std::byte* block, const Tokens512<T>& tokens, std::ptrdiff_t p,
                       std::ptrdiff_t at, __m512i (&total)[2][T]) noexcept {
    __m512i s[2][T];
    sums_of_part<kSteps>(block + p * kSteps * kRow32Bytes, tokens, at, s);
    const std::byte* scales = block + kScalesAt + p * kRow32Bytes;
    const __m512i scale[2] = {load512(scales), load512(scales + 64)};
#pragma GCC unroll 6
    for (int t = 0; t < T; ++t) {
      const __m512i shift = spread(tokens.rows[t] + tokens.shifts + at / (kParts / 8) * 4);
      for (int v = 0; v < 2; ++v) {
        const __m512i words = split_words(_mm512_sllv_epi32(s[v][t], shift));
        total[v][t] = _mm512_dpwssd_epi32(total[v][t], words, scale[v]);
      }
    }
  }

  // t of docs/numerics.md.
  static __m512 term_of(const std::byte* block, __m512i total, const std::byte* sums) noexcept {
    const __m512 term = _mm512_mul_ps(load_floats512(block + kSuperAt), _mm512_cvtepi32_ps(total));
    if constexpr (!Format::kHasMin) return term;
    __m512i minima = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (std::ptrdiff_t i = 0; i < kMinima; ++i) {
      minima = _mm512_dpwssd_epi32(minima, load512(block + kMinimaAt + i * kRow32Bytes),
                                   spread(sums + 4 * i));
    }
    return _mm512_fnmadd_ps(load_floats512(block + kSuperAt + kRow32Bytes),
                            _mm512_cvtepi32_ps(minima), term);
  }
};

}  // namespace
}  // namespace wick
