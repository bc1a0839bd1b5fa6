#include "format/json_reader.h"

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "format/limits.h"

namespace wick {
namespace {

constexpr std::size_t kMaxDigits = 18;
constexpr std::string_view kEnds = " \n\r\t,:]}[{\"";  // of a number or a word

// Characters that end a plain run within a string: the quote, the backslash, control characters.
constexpr std::array<bool, 256> make_stops() {
  std::array<bool, 256> stops{};
  for (std::size_t c = 0; c < 0x20; ++c) {
    stops[c] = true;
  }
  stops['"'] = stops['\\'] = true;
  return stops;
}

constexpr auto kStops = make_stops();

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
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonReader::is_done() noexcept {
  skip_space();
  return !has_failed_ && at_ == text_.size();
}

char JsonReader::peek() noexcept {
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
  if (take('}')) return false;
  if (!is_first && !take(',')) fail();
  key = string();
  if (!take(':')) fail();
  return !has_failed_;
}

bool JsonReader::next_item() noexcept {
  if (has_failed_) return false;
  const bool is_first = is_first_;
  is_first_ = false;
  if (take(']')) return false;
  if (!is_first && !take(',')) fail();
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
    while (at_ < text_.size() && !kStops[static_cast<unsigned char>(text_[at_])]) {
      ++at_;
    }
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
  const std::size_t end = std::min(text_.find_first_of(kEnds, at_), text_.size());
  const std::string_view word = text_.substr(at_, end - at_);
  at_ = end;
  if (word != "true" && word != "false" && word != "null" && !is_number(word)) fail();
}

std::string_view JsonReader::skip() {
  peek();
  const std::size_t begin = at_;
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
