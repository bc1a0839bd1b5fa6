// utf8proc's own map function sorts combining marks by exchanging neighbours, which is quadratic:
// 1 MB of marks in the wrong order would take hours. So its tables decompose and compose, and the
// marks are sorted here, each run once.
#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/strings.h"
#include "text/utf8.h"

namespace wick {
namespace {

constexpr utf8proc_option_t kOptions =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr utf8proc_option_t kDecompose =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

// No character below U+0300 changes under NFC or touches its neighbour.
constexpr char32_t kFirstChanging = 0x300;

int combining_class(utf8proc_int32_t code) noexcept {
  return utf8proc_get_property(code)->combining_class;
}

bool is_surely_nfc(std::string_view text) noexcept {
  // Lead bytes of what lies below U+0300 are at most 0xCB; no other byte but a continuation is
  // between 0x80 and it.
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

void append_decomposed(std::vector<utf8proc_int32_t>& out, char32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<utf8proc_int32_t>(code));
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;
  int last_boundary = 0;
  const utf8proc_ssize_t n = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(), kDecompose, &last_boundary);
  if (n <= 0 || n > static_cast<utf8proc_ssize_t>(parts.size())) {  // an unassigned character
    out.push_back(static_cast<utf8proc_int32_t>(code));
    return;
  }
  out.insert(out.end(), parts.begin(), parts.begin() + n);
}

void sort_marks(std::vector<utf8proc_int32_t>& codes) {
  const auto by_class = [](utf8proc_int32_t a, utf8proc_int32_t b) {
    return combining_class(a) < combining_class(b);
  };
  const auto is_mark = [](utf8proc_int32_t code) {
    return code >= static_cast<utf8proc_int32_t>(kFirstChanging) && combining_class(code) != 0;
  };
  for (auto at = codes.begin(); at != codes.end();) {
    at = std::find_if(at, codes.end(), is_mark);
    const auto end = std::find_if_not(at, codes.end(), is_mark);
    std::stable_sort(at, end, by_class);
    at = end;
  }
}

// `text` is valid UTF-8.
void append_nfc_of_valid(std::string& out, std::string_view text) {
  if (is_surely_nfc(text)) {
    out.append(text);
    return;
  }
  std::vector<utf8proc_int32_t> codes;
  codes.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    append_decomposed(codes, next.code);
    at += static_cast<std::size_t>(next.length);
  }
  sort_marks(codes);
  const utf8proc_ssize_t n =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), kOptions);
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    append_utf8(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
  }
}

}  // namespace

void append_nfc(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t good = valid_utf8_prefix(text);
    append_nfc_of_valid(out, text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) return;
    out += text.front();
    text.remove_prefix(1);
  }
}

}  // namespace wick
