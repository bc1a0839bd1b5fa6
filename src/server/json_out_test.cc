#include "server/json_out.h"

#include <gtest/gtest.h>

namespace wick::server {
namespace {

// One byte after another.
std::string escaped_simply(std::string_view text) {
  constexpr std::string_view kShort = "\"\\\n\r\t\b\f", kNames = "\"\\nrtbf";
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kNames[at];
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out;
}

TEST(ServerJsonOut, EscapesEachByteAtEachPlace) {
  for (std::size_t length = 1; length <= 20; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        for (const char other : {'a', '"', '\xC3'}) {
          std::string text(length, other);
          text[place] = static_cast<char>(byte);
          std::string out = "x";
          append_escaped(out, text);
          ASSERT_EQ(out, "x" + escaped_simply(text)) << length << " " << place << " " << byte;
        }
      }
    }
  }
}

}  // namespace
}  // namespace wick::server
