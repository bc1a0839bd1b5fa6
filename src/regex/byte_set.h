// A set of bytes as 256 bits. A plain value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wick::regex {

struct ByteSet {
  std::array<std::uint64_t, 4> words = {};

  static constexpr ByteSet range(unsigned first, unsigned last) noexcept {
    ByteSet set;
    for (unsigned b = first; b <= last; ++b) {
      set.add(b);
    }
    return set;
  }

  static constexpr ByteSet all() noexcept { return ~ByteSet{}; }

  constexpr void add(unsigned byte) noexcept {
    words[byte / 64] |= std::uint64_t{1} << (byte % 64);
  }

  constexpr bool has(unsigned byte) const noexcept {
    return ((words[byte / 64] >> (byte % 64)) & 1U) != 0;
  }

  constexpr int count() const noexcept {
    int n = 0;
    for (const std::uint64_t w : words) {
      n += std::popcount(w);
    }
    return n;
  }

  // Word by word: a comparison of arrays calls memcmp, a quarter of the time of a derivative.
  constexpr bool is_empty() const noexcept {
    return (words[0] | words[1] | words[2] | words[3]) == 0;
  }

  // The lowest byte; the set is not empty.
  constexpr unsigned first() const noexcept {
    unsigned i = 0;
    while (words[i] == 0) {
      ++i;
    }
    return i * 64 + static_cast<unsigned>(std::countr_zero(words[i]));
  }

  // A digit, else a letter, else the lowest byte; the set is not empty.
  constexpr unsigned plainest() const noexcept {
    for (const ByteSet& kind : {range('0', '9'), range('A', 'Z'), range('a', 'z')}) {
      if (const ByteSet both = *this & kind; !both.is_empty()) return both.first();
    }
    return first();
  }

  // Calls visit(byte) in ascending order.
  template <class Visit>
  constexpr void for_each(const Visit& visit) const {
    for (unsigned i = 0; i < 4; ++i) {
      for (std::uint64_t w = words[i]; w != 0; w &= w - 1) {
        visit(i * 64 + static_cast<unsigned>(std::countr_zero(w)));
      }
    }
  }

  constexpr ByteSet operator~() const noexcept {
    return {{~words[0], ~words[1], ~words[2], ~words[3]}};
  }

  friend constexpr ByteSet operator|(const ByteSet& a, const ByteSet& b) noexcept {
    return {{a.words[0] | b.words[0], a.words[1] | b.words[1], a.words[2] | b.words[2],
             a.words[3] | b.words[3]}};
  }

  friend constexpr ByteSet operator&(const ByteSet& a, const ByteSet& b) noexcept {
    return {{a.words[0] & b.words[0], a.words[1] & b.words[1], a.words[2] & b.words[2],
             a.words[3] & b.words[3]}};
  }

  friend constexpr bool operator==(const ByteSet& a, const ByteSet& b) noexcept {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
            (a.words[3] ^ b.words[3])) == 0;
  }
};

}  // namespace wick::regex
