// Ids of pieces seen before: text repeats its words. A slot is one cache line and holds a piece of
// up to 16 bytes with up to 11 ids. A piece may be in one of two slots; the newer entry is in the
// first. Memory is allocated after kWorthIt pieces. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace wick {

class WordCache {
 public:
  static constexpr std::size_t kMaxBytes = 16;
  static constexpr std::size_t kMaxIds = 11;
  static constexpr int kWorthIt = 256;  // pieces, before memory is taken

  // The ids of `piece` (not empty), or nothing. Valid until the next add().
  std::span<const TokenId> find(std::string_view piece) const noexcept {
    if (slots_.empty() || piece.size() > kMaxBytes) return {};
    const Key key = key_of(piece);
    const Slot* const pair = slots_.data() + place(key);
    for (const Slot* slot = pair; slot < pair + 2; ++slot) {
      if (slot->is(key)) return {slot->ids.data(), slot->n_ids};
    }
    return {};
  }

  void add(std::string_view piece, std::span<const TokenId> ids) {
    if (piece.size() > kMaxBytes || ids.size() > kMaxIds || ids.empty()) return;
    if (slots_.empty()) {
      if (++n_seen_ < kWorthIt) return;
      slots_.resize(kSlots);
    }
    const Key key = key_of(piece);
    Slot* const pair = slots_.data() + place(key);
    pair[1] = pair[0];
    pair[0] = {.first = key.first,
               .last = key.last,
               .bytes = key.bytes,
               .n_ids = static_cast<std::uint16_t>(ids.size())};
    std::copy(ids.begin(), ids.end(), pair[0].ids.begin());
  }

 private:
  static constexpr std::size_t kSlots = 1U << 14U;

  struct Key {
    std::uint64_t first = 0, last = 0;
    std::uint16_t bytes = 0;
  };

  struct alignas(64) Slot {
    std::uint64_t first = 0, last = 0;
    std::uint16_t bytes = 0;  // 0: empty
    std::uint16_t n_ids = 0;
    std::array<TokenId, kMaxIds> ids = {};

    bool is(const Key& key) const noexcept {
      return first == key.first && last == key.last && bytes == key.bytes;
    }
  };

  // First and last bytes, which overlap, and the length: no two pieces share all three.
  static Key key_of(std::string_view piece) noexcept {
    const std::size_t n = piece.size();
    const auto load = [&]<class T>(std::size_t at, T value) -> std::uint64_t {
      std::memcpy(&value, piece.data() + at, sizeof(T));
      return value;
    };
    Key key{.bytes = static_cast<std::uint16_t>(n)};
    if (n >= 8) {
      key.first = load(0, std::uint64_t{});
      key.last = load(n - 8, std::uint64_t{});
    } else if (n >= 4) {
      key.first = load(0, std::uint32_t{});
      key.last = load(n - 4, std::uint32_t{});
    } else {
      key.first = load(0, std::uint8_t{}) | (load(n / 2, std::uint8_t{}) << 8U);
      key.last = load(n - 1, std::uint8_t{});
    }
    return key;
  }

  static std::size_t place(const Key& key) noexcept {
    const std::uint64_t mixed = (key.first * 0x9E3779B97F4A7C15ULL) ^
                                (std::rotl(key.last, 32) * 0xC2B2AE3D27D4EB4FULL) ^ key.bytes;
    const std::uint64_t hash = mixed * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(hash >> 50U) & ~std::size_t{1};
  }

  std::vector<Slot> slots_ = {};
  int n_seen_ = 0;
};

}  // namespace wick
