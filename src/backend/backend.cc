#include "backend/backend.h"

#include <cstdint>
#include <cstring>

namespace wick {

std::string_view name(KvType type) noexcept {
  switch (type) {
    case KvType::kF32:
      return "f32";
    case KvType::kBF16:
      return "bf16";
    case KvType::kF16:
      return "f16";
    case KvType::kQ8_0:
      return "q8_0";
    case KvType::kQ4_0:
      return "q4_0";
  }
  return "?";
}

int kv_granule(KvType type) noexcept {
  return type == KvType::kQ8_0 || type == KvType::kQ4_0 ? 32 : 2;
}

std::size_t kv_head_block_bytes(KvType type, int dim) noexcept {
  const auto elements = static_cast<std::size_t>(kBlockTokens) * static_cast<std::size_t>(dim);
  const std::size_t scales = elements / 32 * 2;
  switch (type) {
    case KvType::kF32:
      return elements * 4;
    case KvType::kBF16:
    case KvType::kF16:
      return elements * 2;
    case KvType::kQ8_0:
      return elements + scales;
    case KvType::kQ4_0:
      return elements / 2 + scales;
  }
  return 0;
}

namespace {

template <class Bits>
bool all_finite(std::span<const std::byte> bytes, Bits exponent) noexcept {
  bool is_finite = true;
  for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, &bytes[at], sizeof(bits));
    is_finite &= (bits & exponent) != exponent;
  }
  return is_finite;
}

}  // namespace

bool kv_is_valid(KvType type, std::span<const std::byte> blocks) noexcept {
  constexpr std::uint16_t kF16 = 0x7c00, kBF16 = 0x7f80;
  if (type == KvType::kF32) return all_finite<std::uint32_t>(blocks, 0x7f800000);
  if (type == KvType::kBF16) return all_finite(blocks, kBF16);
  if (type == KvType::kF16) return all_finite(blocks, kF16);
  const std::size_t tile = kv_head_block_bytes(type, 32), n_scale_bytes = 2 * kBlockTokens;
  bool is_valid = true;
  for (; blocks.size() >= tile; blocks = blocks.subspan(tile)) {
    is_valid &= all_finite(blocks.first(n_scale_bytes), kF16);
    if (type != KvType::kQ8_0) continue;  // of q4_0 every code is possible
    for (const std::byte code : blocks.first(tile).subspan(n_scale_bytes))
      is_valid &= code != std::byte{0x80};  // -128
  }
  return is_valid;
}

}  // namespace wick
