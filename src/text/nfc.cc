// utf8proc's own map function sorts combining marks by exchanging neighbours, which is quadratic:
// 1 MB of marks in the wrong order would take hours. So its tables decompose and compose, and the
// marks are sorted here, each run once. Only where a mark or another active character stands, and
// from the character before it: the rest of a text is copied.
#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/strings.h"
#include "text/nfc_data.h"
#include "text/utf8.h"

namespace wick {
namespace {

constexpr utf8proc_option_t kOptions =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr utf8proc_option_t kDecompose =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

// No character below U+0300 changes under NFC or touches its neighbour.
constexpr char32_t kFirstChanging = 0x300;
constexpr std::ptrdiff_t kFewMarks = 32;

int combining_class(utf8proc_int32_t code) noexcept {
  return utf8proc_get_property(code)->combining_class;
}

bool is_in(std::span<const NfcRange> ranges, char32_t code) noexcept {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), code,
                                     [](char32_t c, const NfcRange& r) { return c < r.first; });
  return next != ranges.begin() && code <= std::prev(next)->last;
}

bool is_active(char32_t code) noexcept {
  // Nearly all of what is written in East Asia, without a search.
  const bool is_ideograph = code >= 0x3100 && code < 0xA000;
  const bool is_hangul = code >= 0xAC00 && code < 0xD7A4;
  return !is_ideograph && !is_hangul && is_in(nfc_active(), code);
}

void append_decomposed(NfcScratch& out, char32_t code) {
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

void sort_marks(NfcScratch& codes) {
  const auto by_class = [](utf8proc_int32_t a, utf8proc_int32_t b) {
    return combining_class(a) < combining_class(b);
  };
  const auto is_mark = [](utf8proc_int32_t code) {
    return code >= static_cast<utf8proc_int32_t>(kFirstChanging) && combining_class(code) != 0;
  };
  for (auto at = codes.begin(); at != codes.end();) {
    at = std::find_if(at, codes.end(), is_mark);
    const auto end = std::find_if_not(at, codes.end(), is_mark);
    if (end - at < kFewMarks) {  // in place: a stable sort takes memory
      for (auto next = at; next != end; ++next) {
        std::rotate(std::upper_bound(at, next, *next, by_class), next, next + 1);
      }
    } else {
      std::stable_sort(at, end, by_class);
    }
    at = end;
  }
}

void append_composed(std::string& out, NfcScratch& codes) {
  sort_marks(codes);
  const utf8proc_ssize_t n =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), kOptions);
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    append_utf8(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
  }
  codes.clear();
}

// One character and the active ones behind it.
void append_part(std::string& out, std::string_view text, NfcScratch& codes) {
  codes.clear();
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    if (is_in(nfc_left_alone(), next.code)) {
      append_composed(out, codes);
      append_utf8(out, next.code);
    } else {
      append_decomposed(codes, next.code);
    }
    at += static_cast<std::size_t>(next.length);
  }
  append_composed(out, codes);
}

// `text` is valid UTF-8.
void append_nfc_of_valid(std::string& out, std::string_view text, NfcScratch& scratch) {
  std::size_t done = 0;
  std::size_t before = 0;  // the character before `at`
  for (std::size_t at = 0; at < text.size();) {
    // Lead bytes of what lies below U+0300 are at most 0xCB; no other byte but a continuation is
    // between 0x80 and it.
    if (static_cast<unsigned char>(text[at]) < 0xCC) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) before = at;
      ++at;
      continue;
    }
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead >= 0xE4 && lead <= 0xE9) {  // U+4000 to U+9FFF: ideographs
      before = at;
      at += 3;
      continue;
    }
    Utf8Char next = decode_utf8(text.substr(at));
    if (!is_active(next.code)) {
      before = at;
      at += static_cast<std::size_t>(next.length);
      continue;
    }
    const std::size_t begin = std::max(done, before);
    while (at < text.size() && is_active(next.code)) {
      at += static_cast<std::size_t>(next.length);
      if (at < text.size()) next = decode_utf8(text.substr(at));
    }
    out.append(text.substr(done, begin - done));
    append_part(out, text.substr(begin, at - begin), scratch);
    done = before = at;
  }
  out.append(text.substr(done));
}

}  // namespace

bool starts_nfc_part(std::string_view text) noexcept {
  const Utf8Char first = decode_utf8(text);
  return !first.is_valid || !is_active(first.code);
}

void append_nfc(std::string& out, std::string_view text, NfcScratch& scratch) {
  while (!text.empty()) {
    const std::size_t good = valid_utf8_prefix(text);
    append_nfc_of_valid(out, text.substr(0, good), scratch);
    text.remove_prefix(good);
    if (text.empty()) return;
    out += text.front();
    text.remove_prefix(1);
  }
}

}  // namespace wick
