#include "backend/cpu/kv_store.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/vector.h"
#include "quant/half.h"
#include "quant/q4_0.h"
#include "quant/q8_0.h"

namespace wick {
namespace {

void clear_rest(KvType type, int dim, std::byte* block, int slot) noexcept {
  if (slot == 0) std::memset(block, 0, kv_head_block_bytes(type, dim));
}

std::uint16_t narrow(KvType type, float x) noexcept {
  return type == KvType::kBF16 ? f32_to_bf16_saturated(x) : f32_to_f16_saturated(x);
}

// Tiles of quantized caches (kernels/cpu/vector.h): scales [16], then quants.
void put_scale(std::byte* tile, int slot, std::uint16_t d_f16) noexcept {
  std::memcpy(tile + 2 * slot, &d_f16, sizeof(d_f16));
}

void store_q8_0(const float* x, int dim, std::byte* tile, int slot, bool is_key) noexcept {
  constexpr std::ptrdiff_t kTileBytes = kCacheScaleBytes + kCacheTile * kBlockTokens;
  for (int d = 0; d < dim; d += kCacheTile, tile += kTileBytes) {
    BlockQ8_0 block;
    Q8_0::encode(x + d, block);
    put_scale(tile, slot, block.d_f16);
    std::byte* const to = tile + kCacheScaleBytes;
    for (int i = 0; i < kCacheTile; ++i) {
      const int at = is_key ? (i / 2 * kBlockTokens + slot) * 2 + i % 2 : slot * kCacheTile + i;
      to[at] = static_cast<std::byte>(block.qs[i]);
    }
  }
}

void put_nibble(std::byte& to, bool is_high, int quant) noexcept {
  const auto nibble = static_cast<std::byte>(quant);
  to = is_high ? (to & std::byte{15}) | nibble << 4 : (to & std::byte{0xf0}) | nibble;
}

// is_key: two features a byte; else two positions.
void store_q4_0(const float* x, int dim, std::byte* tile, int slot, bool is_key) noexcept {
  constexpr std::ptrdiff_t kTileBytes = kCacheScaleBytes + kCacheTile * kBlockTokens / 2;
  for (int d = 0; d < dim; d += kCacheTile, tile += kTileBytes) {
    BlockQ4_0 block;
    Q4_0::encode(x + d, block);
    put_scale(tile, slot, block.d_f16);
    std::byte* const to = tile + kCacheScaleBytes;
    for (int i = 0; i < kCacheTile; ++i) {
      const int quant = i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4;
      const int at = is_key ? i / 2 * kBlockTokens + slot : slot / 2 * kCacheTile + i;
      put_nibble(to[at], (is_key ? i : slot) % 2 == 1, quant);
    }
  }
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
  if (type == KvType::kQ8_0) return store_q8_0(key, dim, block, slot, true);
  if (type == KvType::kQ4_0) return store_q4_0(key, dim, block, slot, true);
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
  if (type == KvType::kQ8_0) return store_q8_0(value, dim, block, slot, false);
  if (type == KvType::kQ4_0) return store_q4_0(value, dim, block, slot, false);
  // [8][dim][2]
  auto* to = reinterpret_cast<std::uint16_t*>(block) +
             static_cast<std::ptrdiff_t>(slot / 2) * dim * 2 + slot % 2;
  for (int d = 0; d < dim; ++d)
    to[2 * d] = narrow(type, value[d]);
}

namespace {

// Features that are zeroed at a time; a multiple of every type's granule.
constexpr int kZeros = 1024;

// A zero is stored as any other value is, so each type's layout stays in one place.
template <class Store>
void copy(KvType type, int dim, const std::byte* from, std::byte* to, int n,
          Store&& store) noexcept {
  static constexpr float zeros[kZeros] = {};
  WICK_CHECK(n > 0 && n <= kBlockTokens && dim <= kZeros,
             "positions of a block, and a head's size");
  std::memcpy(to, from, kv_head_block_bytes(type, dim));
  for (int slot = n; slot < kBlockTokens; ++slot)
    store(type, zeros, dim, to, slot);
}

}  // namespace

void copy_keys(KvType type, int dim, const std::byte* from, std::byte* to, int n) noexcept {
  copy(type, dim, from, to, n, store_key);
}

void copy_values(KvType type, int dim, const std::byte* from, std::byte* to, int n) noexcept {
  copy(type, dim, from, to, n, store_value);
}

}  // namespace wick
