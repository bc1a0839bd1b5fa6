// The products, line for line as docs/numerics.md defines them. Per row and token one f32
// accumulator takes one term per group of 256, in ascending order; inside a group K-quants are one
// exact integer, blocks of 32 a chain of fused multiply-adds. An unpacked group serves up to four
// tokens; that saves time and changes no bit.
#include "kernels/cpu/matmul_scalar.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/scalar_formats.h"

namespace wick {
namespace {

constexpr int kTokens = 4;  // of a pass

const std::byte* row_of(const MatmulArgs& args, int r) noexcept {
  const std::ptrdiff_t at = args.row_map == nullptr ? r : args.row_map[r];
  return args.w + at * static_cast<std::ptrdiff_t>(args.row_bytes);
}

const std::byte* token_of(const MatmulArgs& args, int t) noexcept {
  return args.x + static_cast<std::size_t>(t) * args.x_stride;
}

float& result_of(const MatmulArgs& args, int t, int r) noexcept {
  return args.y[t * args.y_stride + r];
}

// Blocks lie in files without alignment.
template <class Block>
Block load_block(const std::byte* row, int at) noexcept {
  Block block;
  std::memcpy(&block, row + static_cast<std::size_t>(at) * sizeof(Block), sizeof(Block));
  return block;
}

int dot(const std::int8_t* q, const std::int8_t* p, int n) noexcept {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += q[i] * p[i];
  return sum;
}

// Formats with blocks of 32. A group is `n` blocks.
struct Group32 {
  Block32 blocks[8];
  int n = 0;
};

template <class Format>
Group32 unpack_group32(const std::byte* row, int g, int n_blocks) noexcept {
  Group32 group;
  for (int at = 8 * g; at < 8 * g + 8 && at < n_blocks; ++at) {
    group.blocks[group.n++] = Format::unpack(load_block<typename Format::Block>(row, at));
  }
  return group;
}

template <class Format>
float term(const Group32& group, const ActivationRow& x, int g) noexcept {
  float sum = 0;
  for (int j = 0; j < group.n; ++j) {
    const Block32& block = group.blocks[j];
    const int at = 8 * g + j;
    const int s = x.block_scales[at] * dot(block.q, x.values + at * 32, 32);
    sum = std::fma(block.d, static_cast<float>(s), sum);
    if constexpr (Format::kHasMin) {
      sum = std::fma(block.m, static_cast<float>(x.sums[at]), sum);
    }
  }
  return sum;
}

// Formats with super-blocks of 256. |sum| < 2^31 for every format: docs/numerics.md.
template <class Format>
float term(const Block256& block, const ActivationRow& x, int g) noexcept {
  int total = 0;
  int minima = 0;
  for (int i = 0; i < 16; ++i) {
    const int at = 16 * g + i;
    const int s = dot(block.q + 16 * i, x.values + at * 16, 16);
    total += block.scale[i] * x.block_scales[at / 2] * s;
    minima += block.min[i] * x.half_sums[at];
  }
  const float t = block.d * static_cast<float>(total);
  if constexpr (!Format::kHasMin) return t;
  return std::fma(-block.dmin, static_cast<float>(minima), t);
}

template <class Format>
void matmul_blocks(const MatmulArgs& args) noexcept {
  using Block = typename Format::Block;
  const ActivationLayout layout = activation_layout(args.width);
  for (int r = args.row_begin; r < args.row_end; ++r) {
    const std::byte* row = row_of(args, r);
    for (int t0 = 0; t0 < args.n_tokens; t0 += kTokens) {
      const int n = args.n_tokens - t0 < kTokens ? args.n_tokens - t0 : kTokens;
      ActivationRow x[kTokens];
      for (int t = 0; t < n; ++t)
        x[t] = activation_row(layout, token_of(args, t0 + t));
      float acc[kTokens] = {};
      for (int g = 0; g < layout.groups; ++g) {
        const auto group = [&] {
          if constexpr (requires { Format::unpack(Block{}).dmin; }) {
            return Format::unpack(load_block<Block>(row, g));
          } else {
            return unpack_group32<Format>(row, g, layout.blocks);
          }
        }();
        for (int t = 0; t < n; ++t) {
          acc[t] = std::fma(x[t].group_scales[g], term<Format>(group, x[t], g), acc[t]);
        }
      }
      for (int t = 0; t < n; ++t)
        result_of(args, t0 + t, r) = acc[t];
    }
  }
}

struct F32Format {
  using Stored = float;

  static float widen(float x) noexcept { return x; }
};

struct F16Format {
  using Stored = std::uint16_t;

  static float widen(std::uint16_t x) noexcept { return f16_to_f32(x); }
};

struct BF16Format {
  using Stored = std::uint16_t;

  static float widen(std::uint16_t x) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
  }
};

// Lane k % 16 sums the products of value k in ascending order, the row continued with zeros to a
// whole number of 16; then lanes (i, i+8), (i, i+4), (i, i+2), (0, 1) are added.
template <class Values>
void matmul_floats(const MatmulArgs& args) noexcept {
  const int padded = (args.width + 15) / 16 * 16;
  for (int r = args.row_begin; r < args.row_end; ++r) {
    const std::byte* row = row_of(args, r);
    for (int t = 0; t < args.n_tokens; ++t) {
      const std::byte* x = token_of(args, t);
      float lanes[16] = {};
      for (int k = 0; k < padded; ++k) {
        const bool is_inside = k < args.width;
        const float w =
            is_inside ? Values::widen(load_block<typename Values::Stored>(row, k)) : 0.0f;
        const float v = is_inside ? load_block<float>(x, k) : 0.0f;
        lanes[k % 16] = std::fma(w, v, lanes[k % 16]);
      }
      for (int half = 8; half >= 1; half /= 2) {
        for (int i = 0; i < half; ++i)
          lanes[i] += lanes[i + half];
      }
      result_of(args, t, r) = lanes[0];
    }
  }
}

template <class Format>
constexpr MatmulFn product() noexcept {
  if constexpr (requires { typename Format::Stored; }) {
    return matmul_floats<Format>;
  } else {
    return matmul_blocks<Format>;
  }
}

// A number format without a product does not compile.
constexpr MatmulKernels kScalar = {.quantize = quantize_scalar,
                                   .matmul = {
#define WICK_X(name) product<name##Format>(),
                                       WICK_CODECS(WICK_X)
#undef WICK_X
                                   }};

}  // namespace

const MatmulKernels& matmul_kernels_scalar() noexcept {
  return kScalar;
}

}  // namespace wick
