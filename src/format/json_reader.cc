#include "format/json_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/hex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "format/limits.h"

namespace wick {
namespace {

constexpr std::size_t kMaxDigits = 18;
constexpr std::string_view kEnds = " \n\r\t,:]}[{\"";  // of a number or a word

constexpr std::array<bool, 256> make_ends() {
  std::array<bool, 256> ends{};
  for (const char c : kEnds)
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}

constexpr auto kIsEnd = make_ends();

constexpr std::uint64_t each(unsigned char byte) noexcept {
  return 0x0101010101010101U * byte;
}

// The next eight characters, the first in the lowest byte.
std::uint64_t eight_at(std::string_view text, std::size_t at) noexcept {
  std::uint64_t eight = 0;
  std::memcpy(&eight, text.data() + at, sizeof(eight));
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight;
}

// High bits at the bytes below `limit`; above the first of these there may be more.
std::uint64_t below(std::uint64_t eight, unsigned char limit) noexcept {
  return (eight - each(limit)) & ~eight & each(0x80);
}

// Where the plain run within a string ends that is at `at`: at a quote, a backslash or a control
// character.
std::size_t plain_end(std::string_view text, std::size_t at) noexcept {
  for (; text.size() - at >= 8; at += 8) {
    const std::uint64_t eight = eight_at(text, at);
    const std::uint64_t stops =
        below(eight, 0x20) | below(eight ^ each('"'), 1) | below(eight ^ each('\\'), 1);
    if (stops != 0) return at + static_cast<std::size_t>(std::countr_zero(stops)) / 8;
  }
  const auto is_stop = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  };
  while (at < text.size() && !is_stop(text[at]))
    ++at;
  return at;
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// -?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?
bool is_number(std::string_view text) noexcept {
  const auto digits = [&] {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) {
      ++n;
    }
    text.remove_prefix(n);
    return n;
  };
  if (text.substr(0, 1) == "-") text.remove_prefix(1);
  const bool has_zero = text.substr(0, 1) == "0";
  const std::size_t n = digits();
  if (n == 0 || (has_zero && n > 1)) return false;
  if (text.substr(0, 1) == ".") {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.substr(0, 1) == "e" || text.substr(0, 1) == "E") {
    text.remove_prefix(1);
    if (text.substr(0, 1) == "+" || text.substr(0, 1) == "-") text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

// The value of four hexadecimal digits, −1 if they are none.
int code_unit(std::string_view text) noexcept {
  if (text.size() < 4) return -1;
  int code = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = hex_value(c);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

}  // namespace

JsonReader::JsonReader(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  fault_ = valid_utf8_prefix(text_);
  has_failed_ = fault_ != text_.size();
  if (text_.substr(0, 3) == kByteOrderMark) at_ = 3;
}

void JsonReader::skip_space() noexcept {
  std::size_t at = at_;
  while (at < text_.size() && static_cast<unsigned char>(text_[at]) <= ' ') {
    const char c = text_[at];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
    ++at;
    while (text_.size() - at >= 8 && eight_at(text_, at) == each(' '))
      at += 8;
  }
  at_ = at;
}

bool JsonReader::is_done() noexcept {
  skip_space();
  return !has_failed_ && at_ == text_.size();
}

char JsonReader::peek_behind_space() noexcept {
  skip_space();
  return has_failed_ || at_ >= text_.size() ? '\0' : text_[at_];
}

bool JsonReader::take(char c) noexcept {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool JsonReader::open(char bracket) noexcept {
  if (!take(bracket)) fail();
  is_first_ = true;
  return !has_failed_;
}

bool JsonReader::next_member(std::string_view& key) {
  if (has_failed_) return false;
  const bool is_first = is_first_;
  is_first_ = false;
  const char c = peek();
  if (c == '}' || (c == ',' && !is_first)) ++at_;
  if (c == '}') return false;
  if (c != ',' && !is_first) fail();
  key = string();
  if (!take(':')) fail();
  return !has_failed_;
}

bool JsonReader::next_item() noexcept {
  if (has_failed_) return false;
  const bool is_first = is_first_;
  is_first_ = false;
  const char c = peek();
  if (c == ']' || (c == ',' && !is_first)) ++at_;
  if (c == ']') return false;
  if (c != ',' && !is_first) fail();
  return !has_failed_;
}

// Reads over a string; `raw` is what stands between the quotes.
bool JsonReader::scan_string(std::string_view& raw, bool& has_escapes) noexcept {
  has_escapes = false;
  if (!take('"')) {
    fail();
    return false;
  }
  const std::size_t begin = at_;
  for (;;) {
    at_ = plain_end(text_, at_);
    if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) break;
    if (text_[at_] == '"') {
      raw = text_.substr(begin, at_++ - begin);
      return true;
    }
    has_escapes = true;
    at_ = std::min(at_ + 2, text_.size());
  }
  fail();
  return false;
}

std::string_view JsonReader::string() {
  std::string_view raw;
  bool has_escapes = false;
  if (!scan_string(raw, has_escapes)) return {};
  return has_escapes ? unescaped(raw) : raw;
}

std::string_view JsonReader::unescaped(std::string_view raw) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\') {
      out += raw[at++];
      continue;
    }
    const char name = at + 1 < raw.size() ? raw[at + 1] : '\0';
    at += 2;
    if (name != 'u') {
      const std::size_t which = kEscapes.find(name);
      if (which == std::string_view::npos) fail();
      if (has_failed_) return {};
      out += kMeanings[which];
      continue;
    }
    int code = code_unit(raw.substr(std::min(at, raw.size())));
    at += 4;
    if (code >= 0xD800 && code < 0xDC00 && raw.substr(std::min(at, raw.size()), 2) == "\\u") {
      const int low = code_unit(raw.substr(at + 2));
      code =
          low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : -1;
      at += 6;
    }
    if (code < 0 || (code >= 0xD800 && code < 0xE000)) fail();
    if (has_failed_) return {};
    append_utf8(out, static_cast<char32_t>(code));
  }
  unescaped_.push_back(std::move(out));
  return unescaped_.back();
}

std::int64_t JsonReader::integer() noexcept {
  skip_space();
  const bool is_negative = text_.substr(at_, 1) == "-";
  const std::size_t begin = at_ + (is_negative ? 1 : 0);
  std::int64_t value = 0;
  std::size_t at = begin;
  for (; at < text_.size() && is_digit(text_[at]) && at - begin < kMaxDigits; ++at) {
    value = value * 10 + (text_[at] - '0');
  }
  const bool has_digits = at > begin && (text_[begin] != '0' || at == begin + 1);
  const bool is_over = at == text_.size() || kEnds.find(text_[at]) != std::string_view::npos;
  if (!has_digits || !is_over) fail();
  if (has_failed_) return 0;
  at_ = at;
  return is_negative ? -value : value;
}

// A number, true, false or null.
void JsonReader::skip_scalar() noexcept {
  std::size_t end = at_;
  while (end < text_.size() && !kIsEnd[static_cast<unsigned char>(text_[end])])
    ++end;
  const std::string_view word = text_.substr(at_, end - at_);
  at_ = end;
  if (word != "true" && word != "false" && word != "null" && !is_number(word)) fail();
}

std::string_view JsonReader::skip() {
  const char first = peek();
  const std::size_t begin = at_;
  if (first != '{' && first != '[' && first != '"') {
    skip_scalar();
    return has_failed_ ? std::string_view() : text_.substr(begin, at_ - begin);
  }
  std::array<bool, kMaxHeaderJsonDepth + 1> is_object{};
  std::size_t depth = 0;
  do {
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth >= is_object.size() - 1) fail();
      if (has_failed_) return {};
      is_object[depth++] = c == '{';
      open(c);
    } else if (c == '"') {
      string();
    } else {
      skip_scalar();
    }
    std::string_view key;
    while (depth > 0 && !has_failed_) {  // moves to the next value, and out of containers that end
      if (is_object[depth - 1] ? next_member(key) : next_item()) break;
      --depth;
    }
  } while (depth > 0 && !has_failed_);
  return has_failed_ ? std::string_view() : text_.substr(begin, at_ - begin);
}

}  // namespace wick
