#include "quant/dtype.h"

#include <array>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "quant/codecs.h"

namespace wick {
namespace {

struct Format {
  DTypeInfo info;
  void (*decode)(std::span<const std::byte> in, float* out) noexcept;
  void (*encode)(const float* in, std::span<std::byte> out) noexcept;
};

// Blocks are copied out of and into the bytes: a row in a mapped file need not be aligned.
template <Codec C>
void decode_blocks(std::span<const std::byte> in, float* out) noexcept {
  typename C::Block block;
  for (std::size_t at = 0; at < in.size(); at += sizeof(block), out += C::kBlockLen) {
    std::memcpy(&block, in.data() + at, sizeof(block));
    C::decode(block, out);
  }
}

template <Codec C>
void encode_blocks(const float* in, std::span<std::byte> out) noexcept {
  typename C::Block block;
  for (std::size_t at = 0; at < out.size(); at += sizeof(block), in += C::kBlockLen) {
    C::encode(in, block);
    std::memcpy(out.data() + at, &block, sizeof(block));
  }
}

template <Codec C>
constexpr Format format_of(std::string_view name) {
  return {{name, C::kGgufId, C::kBlockLen, static_cast<int>(sizeof(typename C::Block))},
          decode_blocks<C>,
          encode_blocks<C>};
}

#define WICK_X(name) format_of<name>(#name),
constexpr std::array<Format, kDTypes> kFormats = {WICK_CODECS(WICK_X)};
#undef WICK_X

const Format& format(DType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  WICK_CHECK(index < kFormats.size(), "a DType is one of the enumerators");
  return kFormats[index];
}

template <class Match>
std::optional<DType> find(const Match& match) noexcept {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (match(kFormats[i].info)) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace

const DTypeInfo& dtype_info(DType type) noexcept {
  return format(type).info;
}

std::optional<DType> dtype_from_gguf(std::uint32_t gguf_id) noexcept {
  return find([gguf_id](const DTypeInfo& info) {
    return static_cast<std::uint32_t>(info.gguf_id) == gguf_id;
  });
}

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  return find([name](const DTypeInfo& info) { return info.name == name; });
}

std::optional<std::size_t> row_bytes(DType type, std::int64_t n) noexcept {
  const DTypeInfo& info = dtype_info(type);
  if (n < 0 || n % info.block_len != 0) return std::nullopt;
  const auto blocks = static_cast<std::uint64_t>(n / info.block_len);
  const auto block_bytes = static_cast<std::uint64_t>(info.block_bytes);
  if (blocks > std::numeric_limits<std::size_t>::max() / block_bytes) return std::nullopt;
  return static_cast<std::size_t>(blocks * block_bytes);
}

void decode_row(DType type, std::span<const std::byte> in, std::span<float> out) noexcept {
  WICK_CHECK(row_bytes(type, static_cast<std::int64_t>(out.size())) == in.size(),
             "a row's bytes and its weights must agree");
  format(type).decode(in, out.data());
}

void encode_row(DType type, std::span<const float> in, std::span<std::byte> out) noexcept {
  WICK_CHECK(row_bytes(type, static_cast<std::int64_t>(in.size())) == out.size(),
             "a row's bytes and its weights must agree");
  format(type).encode(in.data(), out);
}

}  // namespace wick
