// Words → numbers, without owning the words: an open-addressing table that asks its owner for the
// text of an entry. A vocabulary of 150,000 tokens takes 2 MB and a few milliseconds. Built by one
// thread, then immutable. A vocabulary made to collide is refused after kMaxProbes steps.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/limits.h"

namespace wick {

// A fast hash for short strings; not for secrets.
inline std::uint64_t hash_bytes(std::string_view text) noexcept {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
  std::uint64_t h = text.size() * kFactor;
  while (text.size() >= 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), 8);
    h = (std::rotl(h, 29) ^ eight) * kFactor;
    text.remove_prefix(8);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  h = (std::rotl(h, 29) ^ rest) * kFactor;
  return h ^ (h >> 32U);
}

class StringIndex {
 public:
  enum class Added : std::uint8_t { kYes, kAlreadyThere, kTooManyCollisions };

  // Room for `n` words.
  void reserve(std::size_t n) { slots_.assign(std::bit_ceil(n + n / 2 + 2), Slot{}); }

  bool is_empty() const noexcept { return slots_.empty(); }

  // `text_of(number)` is the text of an earlier entry; at most as many words as reserved.
  template <class TextOf>
  Added add(std::string_view text, std::int32_t number, const TextOf& text_of) {
    const std::uint64_t hash = hash_bytes(text);
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & mask) {
      if (slots_[at].number < 0) {
        slots_[at] = {tag, number};
        return Added::kYes;
      }
      if (slots_[at].tag == tag && text_of(slots_[at].number) == text) return Added::kAlreadyThere;
    }
    return Added::kTooManyCollisions;
  }

  // -1 if `text` is not there.
  template <class TextOf>
  std::int32_t find(std::string_view text, const TextOf& text_of) const noexcept {
    if (slots_.empty()) return -1;
    const std::uint64_t hash = hash_bytes(text);
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at].number < 0) return -1;
      if (slots_[at].tag == tag && text_of(slots_[at].number) == text) return slots_[at].number;
    }
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::int32_t number = -1;
  };

  std::vector<Slot> slots_ = {};
};

}  // namespace wick
