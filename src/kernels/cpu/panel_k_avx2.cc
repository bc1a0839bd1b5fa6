// Q4_K, Q5_K and Q6_K rows times many tokens, by panels (panel_avx2.h). A super-block of 256
// weights of sixteen rows, everything in pairs of vectors of eight rows:
//
//   [64 steps][2] codes; [parts][2] scales, 16 bits, twice; [4][2] minima of blocks 2i and 2i + 1,
//   16 bits (formats with a minimum); [2] d, [2] dmin, floats
//
// A part is what has a scale and fits the 16-bit sums: a block of 32 of Q4_K (at most 30480), half
// of one of Q5_K (4 * 7874 = 31496) and Q6_K. Codes of Q6_K are 0..63; four products of two would
// need 64008. But with q = code - 32 the sum is at most 16 * 32 * 127 / 2 = 32512, and adding wraps
// around: so a sum starts at -32 times the sum of its values of p, which lies ready in the
// activation row (half_offsets), and ends exact.
#include "kernels/cpu/panel_avx2.h"

namespace wick {
namespace {

constexpr std::ptrdiff_t kCodesBytes = 64 * kPair;

// Bytes `low` and `high` of each dword as two words.
inline __m256i words_of(__m256i bytes, int low, int high) noexcept {
  const __m256i dwords = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
  const __m256i first = _mm256_add_epi32(dwords, _mm256_set1_epi32(low));
  const __m256i second = _mm256_add_epi32(dwords, _mm256_set1_epi32(high));
  const __m256i at = _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
  return _mm256_shuffle_epi8(bytes, _mm256_or_si256(at, _mm256_set1_epi32(-0x00ff0100)));
}

// The same for signed bytes.
inline __m256i signed_words_of(__m256i bytes, int at) noexcept {
  return _mm256_srai_epi16(_mm256_slli_epi16(words_of(bytes, at, at), 8), 8);
}

// d|dmin of eight rows → floats.
struct SuperScales {
  __m256 d, dmin;
};

inline SuperScales super_scales(__m256i dwords) noexcept {
  const __m256i split = _mm256_permute4x64_epi64(
      _mm256_shuffle_epi8(
          dwords, _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5,
                                   8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)),
      0xd8);
  return {.d = _mm256_cvtph_ps(_mm256_castsi256_si128(split)),
          .dmin = _mm256_cvtph_ps(_mm256_extracti128_si256(split, 1))};
}

// The 16 bytes before the codes of Q4_K and Q5_K. Dwords: d|dmin; scales 0-3 with bits 4-5 of
// scales 4-7 on top; minima likewise; low nibbles of scales 4-7 and of minima 4-7.
template <class Format>
inline void unpack_header(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
  constexpr int kRepeat = Format::kParts / 8;
  __m256i header[4];
  transpose(rows, at, header);
  const __m256i six = _mm256_set1_epi8(0x3f), four = _mm256_set1_epi8(0x0f);
  const __m256i top = _mm256_set1_epi8(0x30);
  const auto with_top = [&](__m256i low, __m256i high) {
    return _mm256_or_si256(_mm256_and_si256(low, four),
                           _mm256_and_si256(_mm256_srli_epi16(high, 2), top));
  };
  const __m256i scales[2] = {_mm256_and_si256(header[1], six), with_top(header[3], header[1])};
  const __m256i minima[2] = {_mm256_and_si256(header[2], six),
                             with_top(_mm256_srli_epi16(header[3], 4), header[2])};
#pragma GCC unroll 16
  for (int p = 0; p < Format::kParts; ++p) {
    const int j = p / kRepeat;
    store256(out + Format::kScalesAt + p * kPair, words_of(scales[j / 4], j % 4, j % 4));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int low = 2 * i % 4;
    store256(out + Format::kMinimaAt + i * kPair, words_of(minima[i / 2], low, low + 1));
  }
  const SuperScales super = super_scales(header[0]);
  store256(out + Format::kSuperAt, super.d);
  store256(out + Format::kSuperAt + kPair, super.dmin);
}

// Where the parts of a super-block lie.
template <int Parts, bool HasMin>
struct Layout {
  static constexpr int kParts = Parts;
  static constexpr bool kHasMin = HasMin;
  static constexpr std::ptrdiff_t kScalesAt = kCodesBytes;
  static constexpr std::ptrdiff_t kMinimaAt = kScalesAt + Parts * kPair;
  static constexpr std::ptrdiff_t kSuperAt = kMinimaAt + (HasMin ? 4 * kPair : 0);
  static constexpr std::ptrdiff_t kBytes = kSuperAt + (HasMin ? 2 : 1) * kPair;
};

struct Q4_K : Layout<8, true> {
  using Block = BlockQ4_K;
  static constexpr std::ptrdiff_t kCodesIn = offsetof(Block, qs);
  static constexpr bool kIsCentred = false;

  static void unpack(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    unpack_header<Q4_K>(rows, at, out);
    for (std::ptrdiff_t i = 0; i < 8;
         ++i) {  // 16 bytes: half i % 2 of the blocks 2 * (i / 2) and the next
      __m256i q[4];
      transpose(rows, at + kCodesIn + 16 * i, q);
      std::byte* const to = out + (i / 2 * 16 + i % 2 * 4) * kPair;
      for (std::ptrdiff_t c = 0; c < 4; ++c) {
        store256(to + c * kPair, _mm256_and_si256(q[c], nibble));
        store256(to + (8 + c) * kPair, _mm256_and_si256(_mm256_srli_epi16(q[c], 4), nibble));
      }
    }
  }
};

struct Q5_K : Layout<16, true> {
  using Block = BlockQ5_K;
  static constexpr std::ptrdiff_t kCodesIn = offsetof(Block, qs), kHighIn = offsetof(Block, qh);
  static constexpr bool kIsCentred = false;

  static void unpack(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15), sixteen = _mm256_set1_epi8(16);
    unpack_header<Q5_K>(rows, at, out);
    for (std::ptrdiff_t half = 0; half < 2; ++half) {
      __m256i fifth[4];  // bit j: of block j
      transpose(rows, at + kHighIn + 16 * half, fifth);
#pragma GCC unroll 4
      for (std::ptrdiff_t i = 0; i < 4; ++i) {
        __m256i q[4];
        transpose(rows, at + kCodesIn + 32 * i + 16 * half, q);
        std::byte* const to = out + (i * 16 + half * 4) * kPair;
        for (std::ptrdiff_t c = 0; c < 4; ++c) {
          const __m256i low = to_bit_4(fifth[c], 2 * i), high = to_bit_4(fifth[c], 2 * i + 1);
          store256(to + c * kPair,
                   _mm256_or_si256(_mm256_and_si256(q[c], nibble), _mm256_and_si256(low, sixteen)));
          store256(to + (8 + c) * kPair,
                   _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(q[c], 4), nibble),
                                   _mm256_and_si256(high, sixteen)));
        }
      }
    }
  }

 private:
  static __m256i to_bit_4(__m256i bits, std::ptrdiff_t bit) noexcept {
    const int from = static_cast<int>(bit);
    return from < 4 ? _mm256_slli_epi16(bits, 4 - from) : _mm256_srli_epi16(bits, from - 4);
  }
};

struct Q6_K : Layout<16, false> {
  using Block = BlockQ6_K;
  static constexpr std::ptrdiff_t kLowIn = offsetof(Block, ql), kHighIn = offsetof(Block, qh);
  static constexpr std::ptrdiff_t kScalesIn = offsetof(Block, scales),
                                  kDIn = offsetof(Block, d_f16);
  static constexpr bool kIsCentred = true;

  static void unpack(const RowPointers& rows, std::ptrdiff_t at, std::byte* out) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15), top = _mm256_set1_epi8(0x30);
    for (std::ptrdiff_t i = 0; i < 4; ++i) {  // quarter i % 2 of half i / 2
      const std::ptrdiff_t half = i / 2, quarter = i % 2;
      const std::ptrdiff_t low_at = at + kLowIn + 64 * half + 16 * quarter;
      __m256i even[4], odd[4], two[4];
      transpose(rows, low_at, even);
      transpose(rows, low_at + 32, odd);
      transpose(rows, at + kHighIn + 32 * half + 16 * quarter, two);
      std::byte* const to = out + (32 * half + 4 * quarter) * kPair;
      const auto put = [&](std::ptrdiff_t block, std::ptrdiff_t c, __m256i low, __m256i high) {
        store256(to + (8 * block + c) * kPair,
                 _mm256_or_si256(_mm256_and_si256(low, nibble), _mm256_and_si256(high, top)));
      };
      for (std::ptrdiff_t c = 0; c < 4; ++c) {
        put(0, c, even[c], _mm256_slli_epi16(two[c], 4));
        put(1, c, odd[c], _mm256_slli_epi16(two[c], 2));
        put(2, c, _mm256_srli_epi16(even[c], 4), two[c]);
        put(3, c, _mm256_srli_epi16(odd[c], 4), _mm256_srli_epi16(two[c], 2));
      }
    }
    __m256i scales[4];
    transpose(rows, at + kScalesIn, scales);
#pragma GCC unroll 16
    for (int p = 0; p < kParts; ++p)
      store256(out + kScalesAt + p * kPair, signed_words_of(scales[p / 4], p % 4));
    store256(out + kSuperAt, scales_at<false>(rows, at + kDIn).d);
  }
};

// What a tile reads of its tokens; group g lies g steps of 256 values on.
template <int T>
struct TokensK {
  const std::byte* values[T];
  const std::byte* factor_pairs[T];
  const std::byte* half_offsets[T];

  TokensK(const ActivationLayout& layout, const std::byte* const (&x)[T]) noexcept {
    for (int t = 0; t < T; ++t) {
      values[t] = x[t] + layout.values;
      factor_pairs[t] = x[t] + layout.factor_pairs;
      half_offsets[t] = x[t] + layout.half_offsets;
    }
  }
};

template <class Format>
struct PanelK {
  static constexpr int kVectors = 2;
  static constexpr int kGroups = 4;
  static constexpr std::ptrdiff_t kGroupBytes = sizeof(typename Format::Block);
  static constexpr std::size_t kBytes = std::size_t{kGroups} * Format::kBytes;
  static constexpr std::ptrdiff_t kVectorAt = kVectorBytes;

  static void unpack(const RowPointers& rows, const ActivationLayout&, const Panel& panel,
                     std::byte* out) noexcept {
    for (int g = panel.group; g < panel.group + panel.groups; ++g, out += Format::kBytes)
      Format::unpack(rows, g * std::ptrdiff_t{sizeof(typename Format::Block)}, out);
  }

  template <int T>
  static void multiply(const Panel& panel, const ActivationLayout& layout,
                       const std::byte* const (&x)[T], __m256 (&acc)[kVectors][T]) noexcept {
    const TokensK<T> tokens(layout, x);
    const std::byte* block = panel.codes;
    for (int g = panel.group; g < panel.group + panel.groups; ++g, block += Format::kBytes) {
      __m256i total[kVectors][T] = {};
      add_parts(block, tokens, g, total);
      for (int t = 0; t < T; ++t) {
        const __m256 unit =
            _mm256_broadcast_ss(reinterpret_cast<const float*>(x[t] + layout.units) + g);
        const std::byte* const sums = x[t] + layout.sums + 16 * std::ptrdiff_t{g};
        for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
          const __m256 term = term_of(block + v * kVectorBytes, total[v][t], sums);
          acc[v][t] = _mm256_fmadd_ps(unit, term, acc[v][t]);
        }
      }
    }
  }

 private:
  // total += sum of scale * k * S.
  template <int T>
  static void add_parts(const std::byte* block, const TokensK<T>& tokens, int g,
                        __m256i (&total)[kVectors][T]) noexcept {
    constexpr int kParts = Format::kParts, kSteps = 64 / kParts;
    const std::byte* codes = block;
    const std::byte* scales = block + Format::kScalesAt;
    std::ptrdiff_t at = std::ptrdiff_t{g} * 256;
    for (int p = 0; p < kParts; ++p, codes += kSteps * kPair, scales += kPair, at += 4 * kSteps) {
      __m256i s[kVectors][T];
      if constexpr (Format::kIsCentred) start(tokens.half_offsets, at / 4, s);
      dot<kSteps, T, Format::kIsCentred>(codes, tokens.values, at, s);
      const __m256i scale[kVectors] = {load256(scales), load256(scales + kVectorBytes)};
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t) {
        const __m256i k = _mm256_set1_epi32(load_as<int>(tokens.factor_pairs[t] + at / 32 * 4));
#pragma GCC unroll 2
        for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
          const __m256i product = _mm256_madd_epi16(s[v][t], _mm256_mullo_epi16(scale[v], k));
          total[v][t] = _mm256_add_epi32(total[v][t], product);
        }
      }
    }
  }

  // t of docs/numerics.md.
  static __m256 term_of(const std::byte* block, __m256i total, const std::byte* sums) noexcept {
    const __m256 term =
        _mm256_mul_ps(load_floats(block + Format::kSuperAt), _mm256_cvtepi32_ps(total));
    if constexpr (!Format::kHasMin) return term;
    __m256i minima = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (std::ptrdiff_t i = 0; i < 4; ++i) {
      const __m256i pair = _mm256_set1_epi32(load_as<int>(sums + 4 * i));
      minima = _mm256_add_epi32(
          minima, _mm256_madd_epi16(load256(block + Format::kMinimaAt + i * kPair), pair));
    }
    return _mm256_fnmadd_ps(load_floats(block + Format::kSuperAt + kPair),
                            _mm256_cvtepi32_ps(minima), term);
  }
};

}  // namespace

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
