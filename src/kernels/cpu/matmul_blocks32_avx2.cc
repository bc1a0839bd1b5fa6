// Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0 rows times quantised activations.
//
// The order of docs/numerics.md is a chain: g = fma(d_j, float(k_j * S_j), g), then for formats
// with a minimum g = fma(m_j, float(k_j * B_j), g), over the blocks j of a group; then acc =
// fma(unit, g, acc) over the groups. A chain has one live value, so eight rows run side by side,
// one in each lane. But eight short rows must not be read side by side: that breaks the stream that
// the memory system prefetches (measured: four times slower). So each batch of eight rows has two
// phases:
//
//   1. Row after row, in address order: the exact integers k_j * S_j of eight blocks come out of
//   one
//      tree of adds as eight lanes, and go to a scratch table in the first-level cache, with the
//      blocks' scales beside them.
//   2. Group after group: 8 x 8 transposes turn "lane = block" into "lane = row", and the chains
//   run.
//
// Rows wider than slice_limit groups take both phases slice by slice; that costs a third of the
// speed from memory, so slices are as wide as the scratch allows. Integers are exact, so neither
// the tree nor the slices matter to the result.
//
// Cost for 32 weights of Q4_1, one token: 7 vector operations in phase 1, 3 in phase 2, for 20
// bytes. Bounds (p = -128 does not occur): vpmaddubsw gives at most 2 * 15 * 127 = 3810 for 4-bit
// codes, 8 of which fit 16 bits, 2 * 31 * 127 = 7874 for 5-bit codes, 4 of which fit;
// 2 * 128 * 127 = 32512 for 8-bit ones.
#include "kernels/cpu/matmul_avx2.h"
#include "quant/blocks.h"

namespace wick {
namespace {

constexpr int kRows = 8;

// Groups in a slice at most: 16384 values with one token, 32 KiB of scratch; with more tokens half.
constexpr int slice_limit(int n_tokens) noexcept {
  return n_tokens == 1 ? 64 : 32 - 4 * n_tokens;
}

// Two vectors that each hold 16-bit or 32-bit partial sums → one with half as many of each.
template <int kBits>
inline __m256i add(__m256i a, __m256i b) noexcept {
  return kBits == 16 ? _mm256_add_epi16(a, b) : _mm256_add_epi32(a, b);
}

template <int kBits>
inline __m256i merge_two(__m256i a, __m256i b) noexcept {  // dwords of each half: a b a b
  return add<kBits>(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

template <int kBits>
inline __m256i merge_four(__m256i ab, __m256i cd) noexcept {  // a b c d
  return add<kBits>(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

template <int kBits>
inline __m256i merge_halves(__m256i low, __m256i high) noexcept {  // a b c d e f g h
  return add<kBits>(_mm256_blend_epi32(low, high, 0xf0),
                    _mm256_permute2x128_si256(low, high, 0x21));
}

// The activations of one group of one token.
struct Group {
  const std::byte* values;
  const std::byte* factors;
  const std::byte* factor_pairs;
};

inline __m256i multiply(__m256i codes, const Group& x, int i) noexcept {
  return _mm256_maddubs_epi16(codes, load256(x.values + 32 * i));
}

// 4-bit formats: the nibbles of two blocks unpack at once, a's low nibbles beside b's, then the
// high ones beside each other; ActivationLayout::paired_values has that order.
struct Nibbles {
  __m256i low, high;
};

inline Nibbles unpack_two(const std::uint8_t* a, const std::uint8_t* b) noexcept {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(load128(a)), load128(b), 1);
  return {_mm256_and_si256(both, mask), _mm256_and_si256(_mm256_srli_epi16(both, 4), mask)};
}

struct FourBits {
  static constexpr int kLane[8] = {0, 4, 1, 5, 2, 6, 3, 7};  // of block j in what sums() gives

  Nibbles codes[4];

  // The first n <= N blocks at `blocks`; those beyond count as zeros.
  template <class Block, int N>
  static FourBits load(const Block* blocks, int n) noexcept {
    static constexpr std::uint8_t kNone[16] = {};
    FourBits out;
    for (int i = 0; i < N / 2; ++i) {
      const int a = 2 * i, b = 2 * i + 1;
      out.codes[i] = unpack_two(N == 8 || a < n ? blocks[a].qs : kNone,
                                N == 8 || b < n ? blocks[b].qs : kNone);
    }
    return out;
  }

  // k * sum(q * p) of the blocks: 16-bit sums of two, four and eight products of two, the largest
  // 8 * 3810 = 30480; the last step multiplies by k.
  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const auto two = [&](int i) {
      return _mm256_add_epi16(multiply(codes[i].low, x, 2 * i),
                              multiply(codes[i].high, x, 2 * i + 1));
    };
    const __m256i low = merge_two<16>(two(0), N > 2 ? two(1) : zero);
    const __m256i high = N == 8 ? merge_two<16>(two(2), two(3)) : zero;
    return _mm256_madd_epi16(merge_four<16>(low, high), load256(x.factor_pairs));
  }
};

// 16 bytes of nibbles → 32 codes, those of the low nibbles first.
inline __m256i nibbles(const std::uint8_t* qs) noexcept {
  const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4);
  return _mm256_and_si256(_mm256_srlv_epi32(load_twice(qs), shifts), _mm256_set1_epi8(15));
}

// 32 bits → 16 in the bytes whose bit is set.
inline __m256i fifth_bits(const std::uint8_t* qh) noexcept {
  const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                          2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(load_as<int>(qh)), spread);
  const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
  return _mm256_and_si256(is_set, _mm256_set1_epi8(16));
}

// 5-bit formats: block by block. The 16-bit sums end after two levels, at 4 * 7874 = 31496.
struct FiveBits {
  static constexpr int kLane[8] = {0, 1, 2, 3, 4, 5, 6, 7};

  __m256i codes[8];

  template <class Block, int N>
  static FiveBits load(const Block* blocks, int n) noexcept {
    FiveBits out;
    for (int j = 0; j < N; ++j) {
      out.codes[j] = _mm256_setzero_si256();
      if (N == 8 || j < n) {
        out.codes[j] = _mm256_or_si256(nibbles(blocks[j].qs), fifth_bits(blocks[j].qh));
      }
    }
    return out;
  }

  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const auto two = [&](int j) {
      return merge_two<16>(multiply(codes[j], x, j), multiply(codes[j + 1], x, j + 1));
    };
    const __m256i low = _mm256_madd_epi16(merge_four<16>(two(0), N > 2 ? two(2) : zero),
                                          load_twice(x.factor_pairs));
    if constexpr (N < 8) return merge_halves<32>(low, zero);
    return merge_halves<32>(
        low, _mm256_madd_epi16(merge_four<16>(two(4), two(6)), load_twice(x.factor_pairs + 16)));
  }
};

// Q8_0: |w| times p with the sign of w. One product of two may take all 16 bits.
struct EightBits {
  static constexpr int kLane[8] = {0, 1, 2, 3, 4, 5, 6, 7};

  __m256i codes[8];

  template <class Block, int N>
  static EightBits load(const Block* blocks, int n) noexcept {
    EightBits out;
    for (int j = 0; j < N; ++j) {
      out.codes[j] = N == 8 || j < n ? load256(blocks[j].qs) : _mm256_setzero_si256();
    }
    return out;
  }

  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi16(1);
    const auto one = [&](int j) {
      const __m256i p = _mm256_sign_epi8(load256(x.values + 32 * j), codes[j]);
      return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(codes[j]), p), ones);
    };
    const auto two = [&](int j) { return merge_two<32>(one(j), one(j + 1)); };
    const __m256i low = merge_four<32>(two(0), N > 2 ? two(2) : zero);
    const __m256i high = N == 8 ? merge_four<32>(two(4), two(6)) : zero;
    return _mm256_mullo_epi32(merge_halves<32>(low, high),
                              _mm256_cvtepi16_epi32(load128(x.factors)));
  }
};

// Codes are stored as q + kOffset.
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
  static constexpr float kOffset = 16;
};

struct Q5_1 {
  using Block = BlockQ5_1;
  using Codes = FiveBits;
  static constexpr bool kHasMin = true;
  static constexpr float kOffset = 0;
};

struct Q8_0 {
  using Block = BlockQ8_0;
  using Codes = EightBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 0;
};

template <class Format>
constexpr bool kIsPaired = Format::Codes::kLane[1] != 1;

// What phase 1 leaves for phase 2, of one group: [row][block of the group]. Scales are d, or d and
// m as the low and the high half of a dword.
template <int T>
struct alignas(32) Scratch {
  std::int32_t sums[T][kRows][8];
  std::uint32_t scales[kRows][8];
};

// The activations of a pass, offsets as in ActivationLayout.
template <int T>
struct Activations {
  ActivationLayout layout;
  const std::byte* rows[T];

  template <bool kPaired>
  Group group(int t, int g) const noexcept {
    const std::byte* row = rows[t];
    const std::size_t at = static_cast<std::size_t>(g);
    return {
        .values = row + (kPaired ? layout.paired_values : layout.values) + 256 * at,
        .factors = row + layout.factors + 16 * at,
        .factor_pairs = row + (kPaired ? layout.paired_factors : layout.factor_pairs) + 32 * at};
  }
};

// The first four bytes of eight blocks of Q4_1: 5 dwords a block, so the headers lie at dwords
// 0, 5, 10, … 35: no two in the same lane of the five vectors. Blends collect them, lane l has
// block 5 l mod 8.
inline __m256i q4_1_headers(const std::byte* at) noexcept {
  __m256i h = _mm256_blend_epi32(load256(at), load256(at + 32), 0x84);
  h = _mm256_blend_epi32(h, load256(at + 64), 0x10);
  h = _mm256_blend_epi32(h, load256(at + 96), 0x42);
  return _mm256_blend_epi32(h, load256(at + 128), 0x08);
}

template <class Format>
constexpr int scale_lane(int j) noexcept {
  return sizeof(typename Format::Block) == sizeof(BlockQ4_1) ? 5 * j % 8 : j;
}

template <class Format>
inline void store_scales(const std::byte* at, int n, std::uint32_t* out) noexcept {
  if constexpr (sizeof(typename Format::Block) == sizeof(BlockQ4_1)) {
    if (n == 8) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(out), q4_1_headers(at));
      return;
    }
  }
  for (int j = 0; j < n; ++j, at += sizeof(typename Format::Block)) {
    out[scale_lane<Format>(j)] =
        Format::kHasMin ? load_as<std::uint32_t>(at) : load_as<std::uint16_t>(at);
  }
}

// Phase 1 for one row and one group; the blocks beyond n (n <= N) count as zeros.
template <class Format, int T, int N>
inline void sum_group(const std::byte* at, int n, const Activations<T>& x, int g, int r,
                      Scratch<T>& out) noexcept {
  using Block = typename Format::Block;
  using Codes = typename Format::Codes;
  const Codes codes = Codes::template load<Block, N>(reinterpret_cast<const Block*>(at), n);
  for (int t = 0; t < T; ++t) {
    const Group group = x.template group<kIsPaired<Format>>(t, g);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.sums[t][r]), codes.template sums<N>(group));
  }
  store_scales<Format>(at, n, out.scales[r]);
}

template <class Format, int T>
inline void sum_group(const std::byte* at, int n, std::ptrdiff_t ahead, const Activations<T>& x,
                      int g, int r, Scratch<T>& out) noexcept {
  constexpr int kBytes = 8 * static_cast<int>(sizeof(typename Format::Block));
  for (int l = 0; l < kBytes; l += 64)
    prefetch_ahead(at + l, ahead);
  if (n == 8) {
    sum_group<Format, T, 8>(at, 8, x, g, r, out);
  } else if (n > 4) {
    sum_group<Format, T, 8>(at, n, x, g, r, out);
  } else if (n > 2) {
    sum_group<Format, T, 4>(at, n, x, g, r, out);
  } else {
    sum_group<Format, T, 2>(at, n, x, g, r, out);
  }
}

// out[j] lane r = in[r][j].
inline void transpose(const void* in, __m256 (&out)[8]) noexcept {
  const float* at = static_cast<const float*>(in);
  const auto pair = [at](int r, int half) {
    const __m128 low = _mm_load_ps(at + 8 * r + 4 * half);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low),
                                _mm_load_ps(at + 8 * (r + 4) + 4 * half), 1);
  };
  for (int half = 0; half < 2; ++half) {
    const __m256 r0 = pair(0, half), r1 = pair(1, half), r2 = pair(2, half), r3 = pair(3, half);
    const __m256 a = _mm256_unpacklo_ps(r0, r1), b = _mm256_unpackhi_ps(r0, r1);
    const __m256 c = _mm256_unpacklo_ps(r2, r3), d = _mm256_unpackhi_ps(r2, r3);
    out[4 * half] = _mm256_shuffle_ps(a, c, 0x44);
    out[4 * half + 1] = _mm256_shuffle_ps(a, c, 0xee);
    out[4 * half + 2] = _mm256_shuffle_ps(b, d, 0x44);
    out[4 * half + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
}

struct Scales {
  __m256 d[8];
  __m256 m[8];
};

// [row][block] dwords of halves → per block eight rows of floats.
template <bool kHasMin>
inline void widen_scales(const std::uint32_t (&in)[kRows][8], Scales& out) noexcept {
  const __m256i split = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1,
                                         4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  __m256 dwords[8];
  transpose(in, dwords);
  for (int j = 0; j < 8; ++j) {
    const __m256i halves =
        _mm256_permute4x64_epi64(_mm256_shuffle_epi8(_mm256_castps_si256(dwords[j]), split), 0xd8);
    out.d[j] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    if constexpr (kHasMin) out.m[j] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  }
}

// Phase 2 for one group of n blocks: acc = fma(unit, g, acc), lane = row.
template <class Format, int T>
inline void run_chains(const Scratch<T>& in, int n, const Activations<T>& x, int g,
                       __m256 (&acc)[T]) noexcept {
  Scales scales;
  widen_scales<Format::kHasMin>(in.scales, scales);
  for (int t = 0; t < T; ++t) {
    __m256 sums[8];
    transpose(in.sums[t], sums);
    const float* b = reinterpret_cast<const float*>(x.rows[t] + x.layout.float_sums) + 8 * g;
    __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      if (j == n) break;
      __m256 s = _mm256_cvtepi32_ps(_mm256_castps_si256(sums[Format::Codes::kLane[j]]));
      if constexpr (Format::kOffset != 0) {  // whole numbers below 2^24: exact
        s = _mm256_fnmadd_ps(_mm256_set1_ps(Format::kOffset), _mm256_broadcast_ss(b + j), s);
      }
      const int lane = scale_lane<Format>(j);
      sum = _mm256_fmadd_ps(scales.d[lane], s, sum);
      if constexpr (Format::kHasMin) {
        sum = _mm256_fmadd_ps(scales.m[lane], _mm256_broadcast_ss(b + j), sum);
      }
    }
    const float* units = reinterpret_cast<const float*>(x.rows[t] + x.layout.units);
    acc[t] = _mm256_fmadd_ps(_mm256_broadcast_ss(units + g), sum, acc[t]);
  }
}

// Distance from a row's slice to the one that the same lane reads next, at least kAheadBytes where
// rows are one slice: then the whole matrix is one stream.
inline std::ptrdiff_t distance_ahead(std::ptrdiff_t row_bytes, std::ptrdiff_t slice_bytes,
                                     std::ptrdiff_t slice_at) noexcept {
  if (slice_at + slice_bytes < row_bytes) return slice_bytes;
  const std::ptrdiff_t next_batch = kRows * row_bytes - slice_at;
  return next_batch < kAheadBytes ? kAheadBytes : next_batch;
}

template <class Format, int T>
inline void multiply_batch(const MatmulArgs& args, const std::byte* const (&rows)[kRows],
                           const Activations<T>& x, __m256 (&acc)[T]) noexcept {
  constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(typename Format::Block);
  const int groups = x.layout.groups;
  const int blocks = x.layout.blocks;
  Scratch<T> scratch[slice_limit(T)];
  const int n_slices = (groups + slice_limit(T) - 1) / slice_limit(T);
  const int slice = (groups + n_slices - 1) / n_slices;  // even ones: each prefetches its successor
  for (int first = 0; first < groups; first += slice) {
    const int end = first + slice < groups ? first + slice : groups;
    const std::ptrdiff_t ahead = distance_ahead(static_cast<std::ptrdiff_t>(args.row_bytes),
                                                slice * kGroupBytes, first * kGroupBytes);
    for (int r = 0; r < kRows; ++r) {
      for (int g = first; g < end; ++g) {
        const int n = blocks - 8 * g < 8 ? blocks - 8 * g : 8;
        sum_group<Format, T>(rows[r] + g * kGroupBytes, n, ahead, x, g, r, scratch[g - first]);
      }
    }
    for (int g = first; g < end; ++g) {
      const int n = blocks - 8 * g < 8 ? blocks - 8 * g : 8;
      run_chains<Format, T>(scratch[g - first], n, x, g, acc);
    }
  }
}

template <class Format>
struct Kernel {
  template <int T>
  static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    Activations<T> x = {.layout = activation_layout(args.width), .rows = {}};
    for (int t = 0; t < T; ++t)
      x.rows[t] = token_at(args, pass.first + t);
    for (int r = pass.begin; r < pass.end; r += kRows) {
      const int n = pass.end - r < kRows ? pass.end - r : kRows;
      const std::byte* rows[kRows];  // a short last batch repeats its last row
      for (int i = 0; i < kRows; ++i)
        rows[i] = row_at(args, r + (i < n ? i : n - 1));
      __m256 acc[T];
      for (int t = 0; t < T; ++t)
        acc[t] = _mm256_setzero_ps();
      multiply_batch<Format, T>(args, rows, x, acc);
      for (int t = 0; t < T; ++t) {
        alignas(32) float out[kRows];
        _mm256_store_ps(out, acc[t]);
        float* y = args.y + (pass.first + t) * args.y_stride + r;
        for (int i = 0; i < n; ++i)
          y[i] = out[i];
      }
    }
  }
};

}  // namespace

void matmul_q4_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q4_0>>(args);
}

void matmul_q4_1_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q4_1>>(args);
}

void matmul_q5_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q5_0>>(args);
}

void matmul_q5_1_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q5_1>>(args);
}

void matmul_q8_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q8_0>>(args);
}

}  // namespace wick
