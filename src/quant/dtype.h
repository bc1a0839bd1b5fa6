// The number formats that wick reads, as one list. WICK_CODECS generates the enum, the tables
// behind dtype_info() and the tests that run for every format; a new format is its file
// quant/<name>.h and two lines: its name here, its include in quant/codecs.h. Everything here is
// immutable and may be called from any thread.
//
//   const DTypeInfo& info = dtype_info(DType::kQ8_0);   // {"Q8_0", 8, 32, 34}
//   decode_row(DType::kQ8_0, row_bytes, out);           // the reference that defines every kernel
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wick {

// clang-format off
#define WICK_CODECS(X) \
  X(F32) X(F16) X(BF16) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q8_0) \
  X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS) X(MXFP4)
// clang-format on

enum class DType : std::uint8_t {
#define WICK_X(name) k##name,
  WICK_CODECS(WICK_X)
#undef WICK_X
};

#define WICK_X(name) +1
inline constexpr int kDTypes = 0 WICK_CODECS(WICK_X);
#undef WICK_X

struct DTypeInfo {
  std::string_view name;  // "Q4_K"
  int gguf_id = 0;        // ggml's number of the type, as GGUF files carry it
  int block_len = 1;      // weights in a block; a row is a whole number of blocks
  int block_bytes = 0;
};

const DTypeInfo& dtype_info(DType type) noexcept;
std::optional<DType> dtype_from_gguf(std::uint32_t gguf_id) noexcept;
std::optional<DType> dtype_from_name(std::string_view name) noexcept;  // exact spelling: "Q4_K"

// Bytes of a row of n weights; nullopt if n is negative, not a whole number of blocks, or the size
// does not fit.
std::optional<std::size_t> row_bytes(DType type, std::int64_t n) noexcept;

// The reference decoder. `in` holds out.size() weights of `type`, so in.size() == *row_bytes(type,
// out.size()).
void decode_row(DType type, std::span<const std::byte> in, std::span<float> out) noexcept;

// The reference encoder (round to nearest; K-quants by a plain search for scale and minimum).
// out.size() as above.
void encode_row(DType type, std::span<const float> in, std::span<std::byte> out) noexcept;

}  // namespace wick
