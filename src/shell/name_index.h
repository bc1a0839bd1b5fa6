// A hash table of names that the compiler builds: open addressing, at most half full. It lies in
// read-only memory, so that loading it costs nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace wick::shell {

struct NameSlot {
  std::uint32_t hash = 0;
  std::uint16_t number = 0;  // 0: empty; else 1 + the place in the table
};

template <std::size_t kNames>
using NameSlots = std::array<NameSlot, std::bit_ceil(2 * kNames)>;

constexpr std::uint32_t hash_of(std::string_view name) noexcept {  // FNV-1a
  std::uint32_t hash = 2166136261U;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// Of equal names, the first one is found.
constexpr void add_name(std::span<NameSlot> slots, std::string_view name, std::size_t place) {
  const std::uint32_t hash = hash_of(name);
  std::size_t at = hash % slots.size();
  while (slots[at].number != 0)
    at = (at + 1) % slots.size();
  slots[at] = {hash, static_cast<std::uint16_t>(place + 1)};
}

// The first place of this hash that `is` accepts; `none` if there is no such place.
template <class Is>
constexpr std::size_t find_name(std::span<const NameSlot> slots, std::uint32_t hash,
                                std::size_t none, const Is& is) {
  const std::size_t mask = slots.size() - 1;  // a power of two
  for (std::size_t at = hash & mask; slots[at].number != 0; at = (at + 1) & mask) {
    if (slots[at].hash == hash && is(slots[at].number - std::size_t{1}))
      return slots[at].number - std::size_t{1};
  }
  return none;
}

}  // namespace wick::shell
