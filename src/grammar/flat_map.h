// Numbers found by keys of 64 or 32 bits: a hash table in one block of memory, for tables that a
// walk over the token trie fills and empties. A node for each entry would cost an allocation for
// each byte.
//
// Several numbers may have one key (a hash); the caller tells them apart. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wick::grammar {

template <class Key>
class BasicFlatMap {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no value is this number

  // A value of `key` for which `is_it(value)` holds; kNone without one.
  template <class IsIt>
  std::uint32_t find(Key key, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    for (std::size_t i = home(key); slots_[i].value != kNone; i = next(i)) {
      if (slots_[i].key == key && is_it(slots_[i].value)) return slots_[i].value;
    }
    return kNone;
  }

  std::uint32_t find(Key key) const {
    return find(key, [](std::uint32_t) { return true; });
  }

  // An entry that is not there yet.
  void add(Key key, std::uint32_t value) {
    if (slots_.empty() || n_ * 4 >= slots_.size() * 3) grow();
    place({key, value});
    ++n_;
  }

  // Nothing if there is no such entry. Entries behind it move up, so that no search ends too early.
  void remove(Key key, std::uint32_t value) {
    if (slots_.empty()) return;
    std::size_t hole = home(key);
    for (; slots_[hole].key != key || slots_[hole].value != value; hole = next(hole)) {
      if (slots_[hole].value == kNone) return;
    }
    for (std::size_t i = next(hole); slots_[i].value != kNone; i = next(i)) {
      const std::size_t mask = slots_.size() - 1;
      const std::size_t from_home = (i - home(slots_[i].key)) & mask;
      if (from_home < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    --n_;
  }

  void clear() {
    slots_.clear();
    n_ = 0;
  }

  std::size_t size() const noexcept { return n_; }

 private:
  struct Slot {
    Key key = 0;
    std::uint32_t value = kNone;
  };

  std::size_t home(Key key) const noexcept {
    return static_cast<std::size_t>((std::uint64_t{key} * 0x9E3779B97F4A7C15U) >> shift_);
  }

  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }

  void place(const Slot& slot) {
    std::size_t i = home(slot.key);
    while (slots_[i].value != kNone)
      i = next(i);
    slots_[i] = slot;
  }

  void grow() {
    constexpr int kFirstBits = 6;
    shift_ = slots_.empty() ? 64 - kFirstBits : shift_ - 1;
    std::vector<Slot> old(std::size_t{1} << (64 - shift_));
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.value != kNone) place(slot);
    }
  }

  std::vector<Slot> slots_ = {};
  std::size_t n_ = 0;
  int shift_ = 64;
};

inline constexpr std::size_t kHashEntryBytes = 16;  // of a FlatHashMap, about

using FlatMap = BasicFlatMap<std::uint64_t>;
using FlatHashMap = BasicFlatMap<std::uint32_t>;  // by 32 bits of a hash: half as large

}  // namespace wick::grammar
