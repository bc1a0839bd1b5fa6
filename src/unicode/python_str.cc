#include "unicode/python_str.h"

#include <algorithm>

#include "base/strings.h"
#include "base/utf8.h"
#include "unicode/python_str_data.h"

namespace wick {
namespace {

using unicode_data::Range;
using unicode_data::Run;
using unicode_data::Special;
using unicode_data::Table;

// The last row whose first character is not behind `c`, nullptr if there is none.
template <class Row>
const Row* row_of(const Table<Row>& table, char32_t c) noexcept {
  const Row* end = table.rows + table.size;
  const Row* at = std::upper_bound(table.rows, end, c,
                                   [](char32_t x, const Row& row) { return x < row.first; });
  return at == table.rows ? nullptr : at - 1;
}

bool holds(const Table<Range>& table, char32_t c) noexcept {
  const Range* row = row_of(table, c);
  return row != nullptr && c <= row->last;
}

void append_mapped(std::string& out, char32_t c, const Table<Run>& runs,
                   const Table<Special>& specials) {
  if (const Special* row = row_of(specials, c); row != nullptr && row->first == c) {
    for (const std::uint32_t to : row->to) {
      if (to != 0) append_code(out, to);
    }
    return;
  }
  // Runs of step 2 interleave (Latin Extended-A), so the row before may be the one.
  const Run* row = row_of(runs, c);
  for (int back = 0; row != nullptr && back < 2; ++back) {
    if (c <= row->last && (c - row->first) % row->step == 0) {
      append_code(out, static_cast<char32_t>(static_cast<std::int32_t>(c) + row->delta));
      return;
    }
    row = row == runs.rows ? nullptr : row - 1;
  }
  append_code(out, c);
}

// Most text is ASCII, and needs no table.
bool is_ascii(char32_t c) noexcept {
  return c < 0x80;
}

bool is_ascii_upper(char32_t c) noexcept {
  return c >= 'A' && c <= 'Z';
}

bool is_ascii_digit(char32_t c) noexcept {
  return c >= '0' && c <= '9';
}

}  // namespace

CodePoint code_point(std::string_view text, std::size_t at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const Utf8Char c = decode_utf8(text.substr(at));
  if (!c.is_valid) return {kInvalidByte + lead, 1};
  return {c.code, static_cast<std::size_t>(c.length)};
}

std::size_t before(std::string_view text, std::size_t end) noexcept {
  for (std::size_t back = 1; back <= 4 && back <= end; ++back) {
    const std::size_t at = end - back;
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
      return at + code_point(text, at).size == end ? at : end - 1;
    }
  }
  return end - 1;
}

std::size_t count_code_points(std::string_view text) noexcept {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); ++n) {
    at += code_point(text, at).size;
  }
  return n;
}

std::size_t byte_of(std::string_view text, std::size_t index) noexcept {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    at += code_point(text, at).size;
  }
  return at;
}

bool is_character(std::int64_t code) noexcept {
  return code >= 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void append_code(std::string& out, char32_t value) {
  if (value >= kInvalidByte) {
    out += static_cast<char>(value - kInvalidByte);
  } else {
    append_utf8(out, value);
  }
}

bool is_space(char32_t c) noexcept {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_alpha(char32_t c) noexcept {
  return is_ascii(c) ? is_ascii_upper(c & ~char32_t{0x20}) : holds(unicode_data::kAlpha, c);
}

bool is_decimal(char32_t c) noexcept {
  return is_ascii(c) ? is_ascii_digit(c) : holds(unicode_data::kDecimal, c);
}

bool is_digit(char32_t c) noexcept {
  return is_ascii(c) ? is_ascii_digit(c) : holds(unicode_data::kDigit, c);
}

bool is_numeric(char32_t c) noexcept {
  return is_ascii(c) ? is_ascii_digit(c) : holds(unicode_data::kNumeric, c);
}

bool is_lower(char32_t c) noexcept {
  return is_ascii(c) ? c >= 'a' && c <= 'z' : holds(unicode_data::kLower, c);
}

bool is_upper(char32_t c) noexcept {
  return is_ascii(c) ? is_ascii_upper(c) : holds(unicode_data::kUpper, c);
}

bool is_title(char32_t c) noexcept {
  return !is_ascii(c) && holds(unicode_data::kTitle, c);
}

bool is_printable(char32_t c) noexcept {
  return is_ascii(c) ? c >= 0x20 && c < 0x7F : holds(unicode_data::kPrintable, c);
}

bool is_word(char32_t c) noexcept {
  return c == '_' || is_alpha(c) || is_numeric(c);
}

bool is_cased(char32_t c) noexcept {
  return is_lower(c) || is_upper(c) || is_title(c);
}

bool is_case_ignorable(char32_t c) noexcept {
  return holds(unicode_data::kCaseIgnorable, c);
}

bool is_identifier(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point(text, at);
    const auto& table = at == 0 ? unicode_data::kIdentifierStart : unicode_data::kIdentifierPart;
    if (!holds(table, c.value)) return false;
    at += c.size;
  }
  return !text.empty();
}

void append_upper(std::string& out, char32_t c) {
  append_mapped(out, c, unicode_data::kToUpper, unicode_data::kToUpperSpecial);
}

void append_lower(std::string& out, char32_t c) {
  append_mapped(out, c, unicode_data::kToLower, unicode_data::kToLowerSpecial);
}

void append_title(std::string& out, char32_t c) {
  append_mapped(out, c, unicode_data::kToTitle, unicode_data::kToTitleSpecial);
}

void append_folded(std::string& out, char32_t c) {
  append_mapped(out, c, unicode_data::kToFold, unicode_data::kToFoldSpecial);
}

}  // namespace wick
