#include "base/utf8.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace wick {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;

bool is_between(unsigned char byte, unsigned low, unsigned high) noexcept {
  return byte >= low && byte <= high;
}

// The length of the character that four bytes start with, if it has two or three bytes and a lead
// byte without special cases; else 0.
std::size_t usual_length(const char* p) noexcept {
  std::uint32_t four = 0;
  std::memcpy(&four, p, sizeof(four));
  if constexpr (std::endian::native == std::endian::big) four = __builtin_bswap32(four);
  const std::uint32_t lead = four & 0xFFU;
  if ((four & 0xC0C0F0U) == 0x8080E0U) return lead != 0xE0U && lead != 0xEDU ? 3 : 0;
  return (four & 0xC0E0U) == 0x80C0U && lead >= 0xC2U ? 2 : 0;
}

}  // namespace

Utf8Char decode_any_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {.code = lead, .length = 1, .is_valid = true};
  if (!is_between(lead, 0xC2, 0xF4)) return {.code = 0, .length = 1, .is_valid = false};
  const int wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range keeps out overlong forms, surrogates and what lies past U+10FFFF.
  unsigned low = lead == 0xE0 ? 0xA0U : lead == 0xF0 ? 0x90U : 0x80U;
  unsigned high = lead == 0xED ? 0x9FU : lead == 0xF4 ? 0x8FU : 0xBFU;
  char32_t code = lead & (0xFFU >> static_cast<unsigned>(wanted + 1));
  for (int i = 1; i < wanted; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (at >= text.size() || !is_between(byte(at), low, high)) {
      return {.code = 0, .length = i, .is_valid = false};
    }
    code = (code << 6U) | (byte(at) & 0x3FU);
    low = 0x80U;
    high = 0xBFU;
  }
  return {.code = code, .length = wanted, .is_valid = true};
}

int utf8_sequence(std::string_view text) noexcept {
  const Utf8Char first = decode_utf8(text);
  if (first.is_valid) return first.length;
  const bool is_cut = static_cast<std::size_t>(first.length) == text.size() &&
                      is_between(static_cast<unsigned char>(text[0]), 0xC2, 0xF4);
  return is_cut ? 0 : -first.length;
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::size_t valid_utf8_prefix(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    if (text.size() - at >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
      const int n_ascii = std::countr_zero(eight & kHighBits) / 8;
      at += static_cast<std::size_t>(n_ascii);
      if (n_ascii == 8) continue;
    }
    const std::size_t first = at;
    while (text.size() - at >= 4) {
      const std::size_t bytes = usual_length(text.data() + at);
      if (bytes == 0) break;
      at += bytes;
    }
    if (at > first) continue;
    const Utf8Char next = decode_utf8(text.substr(at));
    if (!next.is_valid) break;
    at += static_cast<std::size_t>(next.length);
  }
  return at;
}

void append_repaired(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t good = valid_utf8_prefix(text);
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) return;
    out.append(kReplacementChar);
    text.remove_prefix(static_cast<std::size_t>(decode_utf8(text).length));
  }
}

}  // namespace wick
