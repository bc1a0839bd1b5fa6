// The definition of a number format: a struct with its constants, its block and the two reference
// functions. Immutable and stateless: any thread. Include codecs through quant/codecs.h; code for
// any format uses quant/dtype.h.
//
//   struct Q8_0 {
//     static constexpr DType kType = DType::kQ8_0;
//     static constexpr int kGgufId = 8;     // ggml's number of the type
//     static constexpr int kBlockLen = 32;  // weights in a block
//     using Block = BlockQ8_0;
//     static void decode(const Block& block, float* out) noexcept;  // out[kBlockLen]
//     static void encode(const float* in, Block& out) noexcept;     // in[kBlockLen]
//   };
//
// decode defines the values: it makes the float operations of gguf-py 0.19.0 in the same order, so
// both give the same bits. encode takes finite values; other values give a meaningless block,
// except in Q8_0 and Q4_0, which the KV cache uses.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "quant/dtype.h"

namespace wick {

static_assert(std::endian::native == std::endian::little, "blocks are read as they lie in files");

template <class C>
concept Codec = requires(const typename C::Block& block, typename C::Block& dst, const float* in,
                         float* out) {
  { C::kType } -> std::convertible_to<DType>;
  { C::kGgufId } -> std::convertible_to<int>;
  { C::kBlockLen } -> std::convertible_to<int>;
  { C::decode(block, out) }
  noexcept->std::same_as<void>;
  { C::encode(in, dst) }
  noexcept->std::same_as<void>;
  requires std::is_trivially_copyable_v<typename C::Block>;
};

}  // namespace wick
