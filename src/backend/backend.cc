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
  }
  return "?";
}

std::size_t kv_head_block_bytes(KvType type, int dim) noexcept {
  const std::size_t element = type == KvType::kF32 ? 4 : 2;
  return static_cast<std::size_t>(kBlockTokens) * static_cast<std::size_t>(dim) * element;
}

}  // namespace wick
