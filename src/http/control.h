// Control characters, which no header holds. Any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace wick::http {

inline bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// Where the first one is, or the length of `text`; eight bytes at once.
inline std::size_t find_control(std::string_view text) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    const std::uint64_t deleted = bytes ^ (kOnes * 0x7F);  // 0 where a byte is DEL
    if (((((bytes - kOnes * 0x20) & ~bytes) | ((deleted - kOnes) & ~deleted)) & kHigh) != 0) break;
  }
  while (at < text.size() && !is_control(text[at]))
    ++at;
  return at;
}

}  // namespace wick::http
