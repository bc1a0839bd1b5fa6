// Weights and activations for the tests of the matrix products: random, and the extremes that the
// integer bounds of docs/numerics.md are about. Scales are finite; everything is seeded.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/matmul_scalar.h"
#include "quant/blocks.h"
#include "quant/dtype.h"
#include "quant/half.h"

namespace wick::test {

// 64-byte aligned and exactly as long as asked, so that address sanitizer sees the first byte past
// it.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size)
      : data_(static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))), size_(size) {
    std::memset(data_.get(), 0, size);
  }

  std::byte* data() const { return data_.get(); }

  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

enum class Fill { kRandom, kAllOnes, kTopBits, kOddScales };

inline constexpr Fill kAllFills[] = {Fill::kRandom, Fill::kAllOnes, Fill::kTopBits,
                                     Fill::kOddScales};

// Where the halves (scales and minima) of a block lie.
inline std::vector<std::size_t> half_offsets(DType type) {
  switch (type) {
    case DType::kQ4_1:
    case DType::kQ5_1:
    case DType::kQ4_K:
    case DType::kQ5_K:
      return {0, 2};
    case DType::kQ2_K:
      return {offsetof(BlockQ2_K, d_f16), offsetof(BlockQ2_K, dmin_f16)};
    case DType::kQ3_K:
      return {offsetof(BlockQ3_K, d_f16)};
    case DType::kQ6_K:
      return {offsetof(BlockQ6_K, d_f16)};
    case DType::kF32:
    case DType::kMXFP4:
    case DType::kBF16:
      return {};
    default:
      return {0};
  }
}

class Source {
 public:
  explicit Source(unsigned seed) : bits_(seed) {}

  std::uint32_t bits() { return static_cast<std::uint32_t>(bits_()); }

  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f;
  }

  // Finite; Fill::kRandom gives ordinary sizes, kOddScales subnormals, zeros and negatives too.
  std::uint16_t half(Fill fill) {
    if (fill == Fill::kAllOnes || fill == Fill::kTopBits) return 0x7bff;
    if (fill == Fill::kRandom) return static_cast<std::uint16_t>(0x1000 + bits() % 0x1000);
    switch (bits() % 5) {
      case 0:
        return static_cast<std::uint16_t>(bits() % 0x400);
      case 1:
        return static_cast<std::uint16_t>(0x8000 | bits() % 0x400);
      case 2:
        return static_cast<std::uint16_t>(0x8000 | bits() % 0x7c00);
      case 3:
        return 0x7bff;
      default:
        return 0;
    }
  }

 private:
  std::mt19937 bits_;
};

// One block of `type`, finite in every weight.
inline void fill_block(DType type, Fill fill, Source& source, std::byte* block) {
  const auto bytes = static_cast<std::size_t>(dtype_info(type).block_bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned value = fill == Fill::kAllOnes   ? 0xffu
                           : fill == Fill::kTopBits ? 0x80u
                                                    : source.bits();
    block[i] = static_cast<std::byte>(value & 0xff);
  }
  for (const std::size_t at : half_offsets(type)) {
    const std::uint16_t half = source.half(fill);
    std::memcpy(block + at, &half, sizeof half);
  }
  if (type == DType::kMXFP4) {  // 2^(e - 128); e < 2 are subnormal
    const std::uint32_t e = fill == Fill::kOddScales ? source.bits() % 4 : 60 + source.bits() % 130;
    block[0] = static_cast<std::byte>(e);
  }
  const float value = fill == Fill::kAllOnes ? 3.0e4f : source.between(-2.0f, 2.0f);
  if (type == DType::kF32) std::memcpy(block, &value, sizeof value);
  if (type == DType::kBF16) {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    std::memcpy(block, &upper, sizeof upper);
  }
}

inline std::vector<std::byte> make_weights(DType type, int rows, int width, Fill fill,
                                           unsigned seed) {
  Source source(seed);
  const std::size_t row = *row_bytes(type, width);
  std::vector<std::byte> w(row * static_cast<std::size_t>(rows));
  const auto step = static_cast<std::size_t>(dtype_info(type).block_bytes);
  for (std::size_t at = 0; at < w.size(); at += step)
    fill_block(type, fill, source, w.data() + at);
  return w;
}

// Blocks of 32 differ in size by powers of two, so that every factor occurs; kAllOnes is constant,
// kTopBits alternates its sign: sums as large as they get.
inline std::vector<float> make_values(int n, Fill fill, unsigned seed) {
  Source source(seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  float size = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 32 == 0) size = std::ldexp(1.0f, -static_cast<int>(source.bits() % 6));
    x[i] = size * source.between(-3.0f, 3.0f);
    if (fill == Fill::kAllOnes) x[i] = 1.0f;
    if (fill == Fill::kTopBits) x[i] = i % 64 < 32 ? -1.0f : 1.0f;
  }
  return x;
}

// Activations of `n_tokens` rows as the product with `type` wants them.
inline AlignedBytes make_activations(DType type, int width, int n_tokens, Fill fill,
                                     std::size_t& stride) {
  const auto tokens = static_cast<std::size_t>(n_tokens);
  const bool is_quantized = needs_quantized(type);
  stride = is_quantized ? activation_layout(width).bytes
                        : static_cast<std::size_t>(width) * sizeof(float);
  AlignedBytes x(stride * tokens);
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::vector<float> values =
        make_values(width, fill, 77u + static_cast<unsigned>(t) * 13u);
    if (is_quantized) {
      matmul_kernels_scalar().quantize(values.data(), activation_layout(width),
                                       x.data() + t * stride);
    } else {
      std::memcpy(x.data() + t * stride, values.data(), stride);
    }
  }
  return x;
}

inline std::vector<int> widths_of(DType type) {
  if (!needs_quantized(type)) return {1, 7, 16, 31, 100, 576};
  if (dtype_info(type).block_len == 256) return {256, 512, 1536};
  return {32, 64, 96, 160, 224, 256, 288, 576, 1152, 1536};
}

inline std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypes; ++i)
    types.push_back(static_cast<DType>(i));
  return types;
}

}  // namespace wick::test
