// Printable bytes (! to ~, ¡ to ¬, ® to ÿ) are their own character; the other 68, in order, are the
// characters from U+0100. So every character has one or two bytes of UTF-8.
#include "text/byte_spelling.h"

#include <array>
#include <cstdint>

#include "base/strings.h"

namespace wick {

namespace {

constexpr int kCharacters = 0x100 + 68;

constexpr bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<std::int16_t, kCharacters> make_table() {
  std::array<std::int16_t, kCharacters> byte_of{};
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    byte_of[static_cast<std::size_t>(byte)] = -1;
  }
  for (int byte = 0; byte < 256; ++byte) {
    const int code = is_printable(byte) ? byte : next++;
    byte_of[static_cast<std::size_t>(code)] = static_cast<std::int16_t>(byte);
  }
  return byte_of;
}

constexpr auto kByteOf = make_table();

}  // namespace

bool append_unspelled(std::string& out, std::string_view spelled) {
  const std::size_t before = out.size();
  out.resize(before + spelled.size());  // at most
  char* to = out.data() + before;
  for (std::size_t at = 0; at < spelled.size();) {
    unsigned code = static_cast<unsigned char>(spelled[at++]);
    if (code >= 0x80) {
      const unsigned next = at < spelled.size() ? static_cast<unsigned char>(spelled[at]) : 0U;
      const bool is_two_bytes = code >= 0xC2 && code <= 0xC5 && (next & 0xC0U) == 0x80U;
      code = is_two_bytes ? ((code & 0x1FU) << 6U) | (next & 0x3FU) : kCharacters;
      ++at;
    }
    if (code >= kCharacters || kByteOf[code] < 0) {
      out.resize(before);
      return false;
    }
    *to++ = static_cast<char>(kByteOf[code]);
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return true;
}

void append_spelled(std::string& out, char byte) {
  static constexpr auto kCharOf = [] {
    std::array<char16_t, 256> chars{};
    for (std::size_t code = 0; code < kByteOf.size(); ++code) {
      if (kByteOf[code] >= 0) {
        chars[static_cast<std::size_t>(kByteOf[code])] = static_cast<char16_t>(code);
      }
    }
    return chars;
  }();
  append_utf8(out, kCharOf[static_cast<unsigned char>(byte)]);
}

}  // namespace wick
