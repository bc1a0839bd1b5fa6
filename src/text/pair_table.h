// Pairs of tokens → what they merge into, and how early. One open-addressing table, 16 bytes for a
// slot. Built by one thread, then immutable.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "text/limits.h"
#include "text/table_memory.h"

namespace wick {

struct Merge {
  std::uint32_t rank = 0;  // lower merges first
  TokenId id = -1;         // -1: these two do not merge
};

class PairTable {
 public:
  void reserve(std::size_t n) {
    slots_.assign(std::bit_ceil(n + n / 2 + 2), Slot{});
    maybe_.assign(std::bit_ceil(n / 16 + 1), 0);
  }

  // The first merge of a pair counts. False: a table made to collide.
  bool add(TokenId left, TokenId right, Merge merge) {
    const std::uint64_t key = key_of(left, right);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(key) & mask;
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & mask) {
      if (slots_[at].merge.id < 0) {
        slots_[at] = {key, merge};
        maybe_[(hash(key) >> 26U) & (maybe_.size() - 1)] |= mark_of(hash(key));
        return true;
      }
      if (slots_[at].key == key) return true;
    }
    return false;
  }

  // visit(left, right, merge) for every pair, in no order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.merge.id < 0) continue;
      visit(static_cast<TokenId>(slot.key >> 32U), static_cast<TokenId>(slot.key & 0xFFFFFFFFU),
            slot.merge);
    }
  }

  // False: the pair is surely not in the table. A Bloom filter answers, without access to the
  // slots; it is rarely true for an absent pair.
  bool may_have(TokenId left, TokenId right) const noexcept {
    return !slots_.empty() && has_mark(hash(key_of(left, right)));
  }

  // The first slot that find() reads, for a prefetch. (The compiler would remove a function that
  // only prefetches, because it has no effect.)
  const void* place(TokenId left, TokenId right) const noexcept {
    return slots_.data() + (hash(key_of(left, right)) & (slots_.size() - 1));
  }

  Merge find(TokenId left, TokenId right) const noexcept {
    if (slots_.empty()) return {};
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t hashed = hash(key);
    if (!has_mark(hashed)) return {};
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hashed & mask;; at = (at + 1) & mask) {
      if (slots_[at].merge.id < 0) return {};
      if (slots_[at].key == key) return slots_[at].merge;
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Merge merge = {};
  };

  static std::uint64_t key_of(TokenId left, TokenId right) noexcept {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) |
           static_cast<std::uint32_t>(right);
  }

  static std::size_t hash(std::uint64_t key) noexcept {
    key *= 0x9E3779B97F4A7C15ULL;
    return key ^ (key >> 32U);
  }

  // Two bits of a word.
  static std::uint64_t mark_of(std::uint64_t hashed) noexcept {
    return (std::uint64_t{1} << ((hashed >> 20U) & 63U)) |
           (std::uint64_t{1} << ((hashed >> 50U) & 63U));
  }

  bool has_mark(std::uint64_t hashed) const noexcept {
    const std::uint64_t mark = mark_of(hashed);
    return (maybe_[(hashed >> 26U) & (maybe_.size() - 1)] & mark) == mark;
  }

  std::vector<Slot, TableMemory<Slot>> slots_ = {};
  // A Bloom filter with two bits for each pair. It excludes most absent pairs without access to the
  // slots, which do not fit a cache.
  std::vector<std::uint64_t> maybe_ = {};
};

}  // namespace wick
