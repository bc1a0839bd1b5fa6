#include "backend/cpu/kv_store.h"

#include <cstdint>
#include <cstring>

#include "quant/half.h"

namespace wick {
namespace {

void clear_rest(KvType type, int dim, std::byte* block, int slot) noexcept {
  if (slot == 0) std::memset(block, 0, kv_head_block_bytes(type, dim));
}

std::uint16_t narrow(KvType type, float x) noexcept {
  return type == KvType::kBF16 ? f32_to_bf16(x) : f32_to_f16(x);
}

}  // namespace

void store_key(KvType type, const float* key, int dim, std::byte* block, int slot) noexcept {
  clear_rest(type, dim, block, slot);
  if (type == KvType::kF32) {  // [dim][16]
    float* to = reinterpret_cast<float*>(block) + slot;
    for (int d = 0; d < dim; ++d)
      to[d * kBlockTokens] = key[d];
    return;
  }
  std::byte* to = block + 4 * slot;  // [dim / 2][16][2]
  for (int d = 0; d < dim; d += 2, to += 4 * kBlockTokens) {
    const std::uint16_t pair[2] = {narrow(type, key[d]), narrow(type, key[d + 1])};
    std::memcpy(to, pair, sizeof(pair));
  }
}

void store_value(KvType type, const float* value, int dim, std::byte* block, int slot) noexcept {
  clear_rest(type, dim, block, slot);
  if (type == KvType::kF32) {  // [16][dim]
    std::memcpy(block + static_cast<std::size_t>(slot) * static_cast<std::size_t>(dim) * 4, value,
                static_cast<std::size_t>(dim) * 4);
    return;
  }
  // [8][dim][2]
  auto* to = reinterpret_cast<std::uint16_t*>(block) +
             static_cast<std::ptrdiff_t>(slot / 2) * dim * 2 + slot % 2;
  for (int d = 0; d < dim; ++d)
    to[2 * d] = narrow(type, value[d]);
}

}  // namespace wick
