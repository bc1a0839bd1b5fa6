#include "backend/backend.h"

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

}  // namespace wick
