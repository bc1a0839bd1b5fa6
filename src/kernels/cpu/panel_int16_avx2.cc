// Rows of formats whose quants take all eight bits times many tokens, by panels
// (panel_loop_avx2.h). vpmaddubsw cannot take such quants: a product of two may be 2 * 255 * 127,
// beyond 16 bits. So quants and values meet in 16 bits, by vpmaddwd: two weights of each of eight
// rows with two values of a token, broadcast as a dword. The values are the int16 ones of the
// activation row, times their block scale k; a scale of IQ4_XS is multiplied into its quants. So
// the 32-bit sum of a step is ready to be converted (bounds: docs/numerics.md). A step of a panel,
// everything for two vectors of rows:
//
//   block of 32   [16 steps][2] words; [2] d, floats
//   super-block   [128 steps][2] words; [2] d, floats
//
// Steps are in the order of the int16 values: of each block weights 4i and 4i + 2, then 4i + 1 and
// 4i + 3, i = 0 .. 7.
//
// Bound: the pipes of vpmaddwd, which are those of vpmaddubsw; twice the multiplies of a 4-bit
// format. Cost for 32 weights of 16 rows and four tokens: 128 multiplies, 120 adds, 98 loads, eight
// conversions and fma.
// Hot: all of it.
#include "kernels/cpu/panel_avx2.h"

namespace wick {
namespace {

constexpr int kBlockSteps = 16;  // of a block of 32

// Quants of q + 128 of a step of four weights → the words of its two steps.
struct Words {
  __m256i even, odd;

  explicit Words(__m256i quants) noexcept {
    const __m256i q = _mm256_xor_si256(quants, _mm256_set1_epi8(-128));
    even = _mm256_srai_epi16(_mm256_slli_epi16(q, 8), 8);
    odd = _mm256_srai_epi16(q, 8);
  }

  void store(std::byte* block, std::ptrdiff_t step) const noexcept {
    store256(block + step * kPair, even);
    store256(block + (8 + step) * kPair, odd);
  }
};

template <class Format>
struct Int16Panel {
  static constexpr bool kHasSuperBlocks = requires { Format::kScales; };
  static constexpr int kBlocks = kHasSuperBlocks ? 8 : 1;  // of 32 in a step
  static constexpr std::ptrdiff_t kWordBytes = kBlockSteps * kPair;
  static constexpr std::ptrdiff_t kDAt = kBlocks * kWordBytes;
  static constexpr std::ptrdiff_t kStepBytes = kDAt + kPair;

  static constexpr bool kReadsInt16 = true;
  static constexpr int kVectors = 2;
  static constexpr int kTokens = 4;
  static constexpr int kGroups = 2, kFewGroups = kGroups;
  static constexpr std::size_t kTokenCache = kTokenBytes;
  static constexpr std::ptrdiff_t kGroupBytes = sizeof(typename Format::Block) * 8 / kBlocks;
  static constexpr std::size_t kBytes = std::size_t{kGroups} * 8 / kBlocks * kStepBytes;
  static_assert(kBytes <= kPanelBytes);

  static void unpack(const RowPointers& rows, const ActivationLayout& layout, const Panel& panel,
                     std::byte* out) noexcept {
    const std::ptrdiff_t end = blocks_end(layout, panel.group + panel.groups - 1);
    for (std::ptrdiff_t j = 8 * panel.group; j < end; j += kBlocks, out += kStepBytes) {
      const std::ptrdiff_t at = j / kBlocks * std::ptrdiff_t{sizeof(typename Format::Block)};
      if constexpr (kHasSuperBlocks) {
        __m256i scales[kBlocks];
        Unpack<Format>::run(rows, at, Out{out, scales});
      } else {
        unpack_block32<Format, 128>(rows, at, [out](std::ptrdiff_t step, __m256i quants) {
          Words(quants).store(out, step);
        });
        store256(out + kDAt, scales_at<Format>(rows, at).d);
      }
    }
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], const Accumulators& accumulators,
                       Prefetcher& prefetcher) noexcept {
    __m256 acc[kVectors][T];
    load_accumulators(panel, accumulators, acc);
    const std::byte* values[T];
    for (int t = 0; t < T; ++t)
      values[t] = x[t] + layout.int16s;
    const std::byte* block = panel.quants;
    std::ptrdiff_t j = 8 * std::ptrdiff_t{panel.group};
    for (int g = panel.group; g < panel.group + panel.groups; ++g) {
      prefetcher.prefetch_share();
      const std::ptrdiff_t end = blocks_end(layout, g);
      __m256 sum[kVectors][T] = {};
      for (; j < end; j += kBlocks, block += kStepBytes) {
        __m256i s[2][T];
        dot<WordProducts, kBlockSteps, T, false>(block, values, kPair * j, s);
        for (std::ptrdiff_t b = 1; b < kBlocks; ++b)
          dot<WordProducts, kBlockSteps, T, true>(block + b * kWordBytes, values, kPair * (j + b),
                                                  s);
#pragma GCC unroll 4
        for (int t = 0; t < T; ++t) {
#pragma GCC unroll 2
          for (std::ptrdiff_t v = 0; v < kVectors; ++v)
            sum[v][t] = add_block(load_floats(block + kDAt + v * kVectorBytes), s[v][t], sum[v][t]);
        }
      }
      end_group(layout, x, g, sum, acc);
    }
    store_accumulators(accumulators, acc);
  }

 private:
  // The one term of a super-block is t of docs/numerics.md, a product.
  static __m256 add_block(__m256 d, __m256i whole, __m256 sum) noexcept {
    const __m256 number = _mm256_cvtepi32_ps(whole);
    return kHasSuperBlocks ? _mm256_mul_ps(d, number) : _mm256_fmadd_ps(d, number, sum);
  }

  // Where one vector of eight rows of a super-block goes; its scales come before its quants.
  struct Out {
    std::byte* to;
    __m256i* scales;  // [kBlocks]

    void scale(std::ptrdiff_t j, __m256i words) const noexcept { scales[j] = words; }

    void quants(std::ptrdiff_t step, __m256i quants) const noexcept {
      Words words(quants);
      words.even = _mm256_mullo_epi16(words.even, scales[step / 8]);
      words.odd = _mm256_mullo_epi16(words.odd, scales[step / 8]);
      words.store(to + step / 8 * kWordBytes, step % 8);
    }

    void super(const RowScales& of_rows) const noexcept { store256(to + kDAt, of_rows.d); }
  };
};

}  // namespace

void panel_q8_0_avx2(const MatmulArgs& args) noexcept {
  run_panels<Int16Panel<Q8_0>>(args);
}

void panel_iq4_nl_avx2(const MatmulArgs& args) noexcept {
  run_panels<Int16Panel<IQ4_NL>>(args);
}

void panel_iq4_xs_avx2(const MatmulArgs& args) noexcept {
  run_panels<Int16Panel<IQ4_XS>>(args);
}

}  // namespace wick
