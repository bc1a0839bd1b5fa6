// NEON products (ARMv8.2 with dot product) of formats with blocks of 32, their integers by sdot,
// and of floats in sixteen lanes. The order is the scalar definition's (docs/numerics.md); only the
// exact integers come about differently. Super-blocks: matmul_k_neon.cc.
//
// Row by row in address order; the tokens of a call reread the row from the first-level cache. The
// chain of fused multiply-adds of one row is scalar: correct first, its speed is untested.
#include "kernels/cpu/matmul_neon.h"

#include "kernels/cpu/matmul_isa.h"
#include "kernels/cpu/peak_body.h"

namespace wick {
namespace {

// 32 signed quants in order.
struct Quants {
  int8x16_t first, second;
};

inline Quants nibbles(const std::uint8_t* qs) noexcept {
  const uint8x16_t q = vld1q_u8(qs);
  return {vreinterpretq_s8_u8(vandq_u8(q, vdupq_n_u8(15))), vreinterpretq_s8_u8(vshrq_n_u8(q, 4))};
}

inline Quants minus(const Quants& quants, int offset) noexcept {
  const int8x16_t o = vdupq_n_s8(static_cast<std::int8_t>(offset));
  return {vsubq_s8(quants.first, o), vsubq_s8(quants.second, o)};
}

// 16 in the bytes whose bit of the two bytes at `qh` is set.
inline int8x16_t fifth_bits(const std::uint8_t* qh) noexcept {
  static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                             1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bytes = vcombine_u8(vdup_n_u8(qh[0]), vdup_n_u8(qh[1]));
  const uint8x16_t is_set = vtstq_u8(bytes, vld1q_u8(kBits));
  return vreinterpretq_s8_u8(vandq_u8(is_set, vdupq_n_u8(16)));
}

inline Quants with_fifth_bits(const Quants& low, const std::uint8_t* qh) noexcept {
  return {vorrq_s8(low.first, fifth_bits(qh)), vorrq_s8(low.second, fifth_bits(qh + 2))};
}

// What a table of sixteen has for each quant.
inline Quants through(const std::int8_t* table, const Quants& quants) noexcept {
  const int8x16_t values = vld1q_s8(table);
  return {vqtbl1q_s8(values, vreinterpretq_u8_s8(quants.first)),
          vqtbl1q_s8(values, vreinterpretq_u8_s8(quants.second))};
}

template <class Format>
inline Quants quants_of(const typename Format::Block& block) noexcept {
  if constexpr (sizeof(block.qs) == 32) {
    return {vld1q_s8(block.qs), vld1q_s8(block.qs + 16)};
  } else {
    Quants quants = nibbles(block.qs);
    if constexpr (requires { block.qh; }) quants = with_fifth_bits(quants, block.qh);
    if constexpr (Format::kHasTable) return through(Format::kTable, quants);
    return minus(quants, Format::kOffset);
  }
}

template <class Format>
inline float scale_of(const typename Format::Block& block) noexcept {
  if constexpr (requires { block.e; }) {  // 2^(e - 128), the two smallest of which are subnormal
    const std::uint32_t e = block.e;
    const std::uint32_t bits = e < 2 ? 0x00200000u << e : (e - 1u) << 23;
    return load_as<float>(&bits);
  } else {
    return widen(block.d_f16);
  }
}

inline int32x4_t dot(const Quants& quants, const std::int8_t* p) noexcept {
  const int32x4_t first = vdotq_s32(vdupq_n_s32(0), quants.first, vld1q_s8(p));
  return vdotq_s32(first, quants.second, vld1q_s8(p + 16));
}

// k * S of the first n <= 4 blocks; zeros after them.
template <class Format>
inline float32x4_t sums_of_four(const typename Format::Block* blocks, int n, const std::int8_t* p,
                                const std::int16_t* block_scales) noexcept {
  int32x4_t d[4];
  for (int j = 0; j < 4; ++j) {
    d[j] = j < n ? dot(quants_of<Format>(blocks[j]), p + 32 * j) : vdupq_n_s32(0);
  }
  const int32x4_t s = vpaddq_s32(vpaddq_s32(d[0], d[1]), vpaddq_s32(d[2], d[3]));
  return vcvtq_f32_s32(vmulq_s32(s, vmovl_s16(vld1_s16(block_scales))));
}

// Offsets of the parts of ActivationLayout that a row's groups read.
struct Row {
  const float* group_scales;
  const std::int16_t* block_scales;
  const float* float_sums;
  const std::int8_t* values;
};

inline Row row_of(const ActivationLayout& layout, const std::byte* x) noexcept {
  return {.group_scales = reinterpret_cast<const float*>(x + layout.group_scales),
          .block_scales = reinterpret_cast<const std::int16_t*>(x + layout.block_scales),
          .float_sums = reinterpret_cast<const float*>(x + layout.float_sums),
          .values = reinterpret_cast<const std::int8_t*>(x + layout.values)};
}

template <class Format>
inline float multiply_row(const typename Format::Block* blocks, const ActivationLayout& layout,
                          const Row& x) noexcept {
  float acc = 0;
  for (int g = 0; g < layout.groups; ++g) {
    float sum = 0;
    for (int at = 8 * g; at < 8 * g + 8 && at < layout.blocks; at += 4) {
      const int n = layout.blocks - at < 4 ? layout.blocks - at : 4;
      float s[4];
      vst1q_f32(s, sums_of_four<Format>(blocks + at, n, x.values + std::ptrdiff_t{at} * 32,
                                        x.block_scales + at));
      for (int j = 0; j < n; ++j) {
        const auto& block = blocks[at + j];
        sum = __builtin_fmaf(scale_of<Format>(block), s[j], sum);
        if constexpr (Format::kHasMin) {
          sum = __builtin_fmaf(widen(block.m_f16), x.float_sums[at + j], sum);
        }
      }
    }
    acc = __builtin_fmaf(x.group_scales[g], sum, acc);
  }
  return acc;
}

template <class Format>
void matmul_blocks(const MatmulArgs& args) noexcept {
  const ActivationLayout layout = activation_layout(args.width);
  for (int r = args.row_begin; r < args.row_end; ++r) {
    const auto* blocks = reinterpret_cast<const typename Format::Block*>(row_at(args, r));
    for (int t = 0; t < args.n_tokens; ++t) {
      const Row x = row_of(layout, args.x + static_cast<std::size_t>(t) * args.x_stride);
      args.y[t * args.y_stride + r] = multiply_row<Format>(blocks, layout, x);
    }
  }
}

struct Lanes {
  float32x4_t v[4];
};

struct F32Row {
  static constexpr int kBytes = 4;

  static float32x4_t load(const std::byte* at) noexcept {
    return vld1q_f32(reinterpret_cast<const float*>(at));
  }
};

struct F16Row {
  static constexpr int kBytes = 2;

  static float32x4_t load(const std::byte* at) noexcept {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const std::uint16_t*>(at))));
  }
};

struct BF16Row {
  static constexpr int kBytes = 2;

  static float32x4_t load(const std::byte* at) noexcept {
    const uint16x4_t upper = vld1_u16(reinterpret_cast<const std::uint16_t*>(at));
    return vreinterpretq_f32_u32(vshll_n_u16(upper, 16));
  }
};

// n >= 16 values, or the last n < 16 continued with zeros.
template <class Values>
inline Lanes load_lanes(const std::byte* at, int n) noexcept {
  alignas(16) std::byte padded[64] = {};
  if (n < 16) {
    __builtin_memcpy(padded, at, static_cast<std::size_t>(n) * Values::kBytes);
    at = padded;
  }
  Lanes out;
  for (int i = 0; i < 4; ++i)
    out.v[i] = Values::load(at + 4 * i * Values::kBytes);
  return out;
}

// (i, i+8), (i, i+4), (i, i+2), (0, 1).
inline float total(const Lanes& acc) noexcept {
  const float32x4_t four = vaddq_f32(vaddq_f32(acc.v[0], acc.v[2]), vaddq_f32(acc.v[1], acc.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

template <class Values>
void matmul_floats(const MatmulArgs& args) noexcept {
  for (int r = args.row_begin; r < args.row_end; ++r) {
    const std::byte* row = row_at(args, r);
    for (int t = 0; t < args.n_tokens; ++t) {
      const std::byte* x = args.x + static_cast<std::size_t>(t) * args.x_stride;
      Lanes acc;
      for (float32x4_t& v : acc.v)
        v = vdupq_n_f32(0);
      for (int k = 0; k < args.width; k += 16) {
        const Lanes w =
            load_lanes<Values>(row + std::ptrdiff_t{k} * Values::kBytes, args.width - k);
        const Lanes v = load_lanes<F32Row>(x + std::ptrdiff_t{k} * 4, args.width - k);
        for (int i = 0; i < 4; ++i)
          acc.v[i] = vfmaq_f32(acc.v[i], w.v[i], v.v[i]);
      }
      args.y[t * args.y_stride + r] = total(acc);
    }
  }
}

std::uint64_t peak_neon(std::uint64_t rounds) noexcept {
  const int8x16_t quants = vdupq_n_s8(1);
  return products_of<int32x4_t>(rounds, [&quants](int32x4_t& sum) {
    sum = vdotq_s32(sum, quants, quants);
    __asm__ volatile("" : "+w"(sum));  // keeps the value in a register
  });
}

}  // namespace

MatmulOverrides matmul_overrides_neon() noexcept {
  return {.peak = peak_neon,
          .f32 = matmul_floats<F32Row>,
          .f16 = matmul_floats<F16Row>,
          .bf16 = matmul_floats<BF16Row>,
          .q4_0 = matmul_blocks<Q4_0>,
          .q4_1 = matmul_blocks<Q4_1>,
          .q5_0 = matmul_blocks<Q5_0>,
          .q5_1 = matmul_blocks<Q5_1>,
          .q8_0 = matmul_blocks<Q8_0>,
          .q2_k = matmul_q2_k_neon,
          .q3_k = matmul_q3_k_neon,
          .q4_k = matmul_q4_k_neon,
          .q5_k = matmul_q5_k_neon,
          .q6_k = matmul_q6_k_neon,
          .iq4_nl = matmul_blocks<IQ4_NL>,
          .iq4_xs = matmul_iq4_xs_neon,
          .mxfp4 = matmul_blocks<MXFP4>};
}

}  // namespace wick
