// utf8proc's own map function sorts combining marks by exchanging neighbors, which is quadratic:
// 1 MB of marks in the wrong order would take hours. So its tables decompose and compose, and the
// marks are sorted here, each run once. Only where a mark or another active character stands, and
// from the character before it: the rest of a text is copied.
#include "unicode/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/strings.h"
#include "base/utf8.h"

namespace wick {
namespace {

constexpr utf8proc_option_t kOptions =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr utf8proc_option_t kDecompose =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

// The place before the first trailing consonant of Hangul's arithmetic, where no letter stands. It
// composes with nothing, but utf8proc drops it behind a syllable.
constexpr char32_t kBeforeTrailingJamo = 0x11A7;

// No character below U+0300 changes under NFC or touches its neighbor.
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
  // Nearly all East Asian text, without a search.
  const bool is_ideograph = code >= 0x3100 && code < 0xA000;
  const bool is_hangul = code >= 0xAC00 && code < 0xD7A4;
  return !is_ideograph && !is_hangul && is_in(nfc_active(), code);
}

bool is_compatible(UnicodeForm form) noexcept {
  return form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
}

bool is_composed(UnicodeForm form) noexcept {
  return form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
}

void append_decomposed(NfcScratch& out, char32_t code, UnicodeForm form) {
  if (code < 0x80) {
    out.push_back(static_cast<utf8proc_int32_t>(code));
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;
  int last_boundary = 0;
  const auto options = is_compatible(form)
                           ? static_cast<utf8proc_option_t>(kDecompose | UTF8PROC_COMPAT)
                           : kDecompose;
  const utf8proc_ssize_t n = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(), options, &last_boundary);
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

void append_sorted(std::string& out, NfcScratch& codes, UnicodeForm form) {
  sort_marks(codes);
  auto n = static_cast<utf8proc_ssize_t>(codes.size());
  if (is_composed(form)) n = utf8proc_normalize_utf32(codes.data(), n, kOptions);
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    append_utf8(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
  }
  codes.clear();
}

// One character and the active ones after it.
void append_part(std::string& out, std::string_view text, UnicodeForm form, NfcScratch& codes) {
  codes.clear();
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    if (next.code == kBeforeTrailingJamo || is_in(nfc_left_alone(), next.code)) {
      append_sorted(out, codes, form);
      append_utf8(out, next.code);
    } else {
      append_decomposed(codes, next.code, form);
    }
    at += static_cast<std::size_t>(next.length);
  }
  append_sorted(out, codes, form);
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
    append_part(out, text.substr(begin, at - begin), UnicodeForm::kNfc, scratch);
    done = before = at;
  }
  out.append(text.substr(done));
}

// For the other forms no table says what stays as it is: each run that is not ASCII is written
// anew, together with the character before it.
void append_form_of_valid(std::string& out, std::string_view text, UnicodeForm form,
                          NfcScratch& scratch) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  for (std::size_t at = 0; at < text.size();) {
    const auto* const next = std::find_if_not(text.begin() + at, text.end(), is_ascii);
    const auto first = static_cast<std::size_t>(next - text.begin());
    const std::size_t begin = first < text.size() && first > at ? first - 1 : first;
    out.append(text.substr(at, begin - at));
    at = static_cast<std::size_t>(std::find_if(next, text.end(), is_ascii) - text.begin());
    append_part(out, text.substr(begin, at - begin), form, scratch);
  }
}

}  // namespace

void append_form(std::string& out, std::string_view text, UnicodeForm form, NfcScratch& scratch) {
  while (!text.empty()) {
    const std::string_view good = text.substr(0, valid_utf8_prefix(text));
    if (form == UnicodeForm::kNfc) {
      append_nfc_of_valid(out, good, scratch);
    } else {
      append_form_of_valid(out, good, form, scratch);
    }
    text.remove_prefix(good.size());
    if (text.empty()) return;
    out += text.front();
    text.remove_prefix(1);
  }
}

}  // namespace wick
