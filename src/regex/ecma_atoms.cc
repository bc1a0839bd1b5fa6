// The parser's characters, escapes and classes.
#include <array>
#include <utility>

#include "base/hex.h"
#include "base/strings.h"
#include "regex/ecma_syntax.h"

namespace wick::regex {
namespace {

CodePoints digits() {
  return {U'0', U'9'};
}

// WhiteSpace and LineTerminator of ECMA-262: White_Space without U+0085, with U+FEFF.
CodePoints spaces() {
  CodePoints set(0x9, 0xD);
  for (const char32_t c :
       {0x20U, 0xA0U, 0x1680U, 0x2028U, 0x2029U, 0x202FU, 0x205FU, 0x3000U, 0xFEFFU}) {
    set.add(c, c);
  }
  set.add(0x2000, 0x200A);
  return set;
}

constexpr bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_high(char32_t c) noexcept {
  return c >= 0xD800 && c < 0xDC00;
}

constexpr bool is_low(char32_t c) noexcept {
  return c >= 0xDC00 && c < 0xE000;
}

}  // namespace

CodePoints word_characters() {
  CodePoints set(U'a', U'z');
  set.add(U'A', U'Z');
  set.add(U'0', U'9');
  set.add(U'_', U'_');
  return set;
}

Result<char32_t> SyntaxParser::character() {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0U;
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  bool is_valid = lead < 0x80 || (lead >= 0xC2 && lead < 0xF5);
  for (std::size_t i = 1; i < length; ++i) {
    is_valid &= (byte(i) & 0xC0U) == 0x80U;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  if (!is_valid || code < kLeast[length] || code > kLastCodePoint || is_high(code) ||
      is_low(code)) {
    return wrong("bytes that are not UTF-8", at_);
  }
  at_ += length;
  return code;
}

Result<char32_t> SyntaxParser::hex(int n) {
  char32_t value = 0;
  const std::size_t began = at_;
  for (int i = 0; i < n; ++i, ++at_) {
    const int digit = at_end() ? -1 : hex_value(text_[at_]);
    if (digit < 0) return wrong(cat("an escape that needs ", n, " hexadecimal digits"), began);
    value = value * 16 + static_cast<char32_t>(digit);
  }
  return value;
}

// Behind \u: four digits, a pair of surrogates, or braces.
Result<char32_t> SyntaxParser::unicode_escape() {
  const std::size_t began = at_;
  if (take("{")) {
    char32_t value = 0;
    const std::size_t first = at_;
    for (; !at_end() && hex_value(text_[at_]) >= 0 && value <= kLastCodePoint; ++at_) {
      value = value * 16 + static_cast<char32_t>(hex_value(text_[at_]));
    }
    if (at_ == first || value > kLastCodePoint || !take("}") || is_high(value) || is_low(value)) {
      return wrong("an escape \\u{…} that is no character", began);
    }
    return value;
  }
  WICK_TRY(const char32_t code, hex(4));
  if (is_high(code) && take("\\u")) {
    WICK_TRY(const char32_t low, hex(4));
    if (is_low(low)) return 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  if (is_high(code) || is_low(code)) {
    return refused("half of a surrogate pair", began, "no text holds it; write \\u{…}");
  }
  return code;
}

Result<CodePoints> SyntaxParser::property(bool is_negative) {
  const std::size_t began = at_ - 2;
  if (!take("{")) return wrong("\\p without a {name}", began);
  const std::size_t end = text_.find('}', at_);
  if (end == std::string_view::npos) return wrong("\\p{ without its '}'", began);
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end + 1;
  auto known = properties_.find(name);
  if (known == properties_.end()) {
    auto set = unicode_property(name);
    if (!set) {
      return refused(cat("the property \\p{", printable(name, 40), "}"), began,
                     "only general categories, a few scripts and Alphabetic are known");
    }
    known = properties_.emplace(std::string(name), *std::move(set)).first;
  }
  return is_negative ? known->second.complement() : known->second;
}

// Behind a backslash. `is_single`: one character, which may bound a range.
Result<CodePoints> SyntaxParser::escape(bool is_in_class, bool& is_single) {
  const std::size_t began = at_ - 1;
  if (at_end()) return wrong("a backslash at its end", began);
  const char c = text_[at_];
  is_single = false;
  if (take("d")) return digits();
  if (take("D")) return digits().complement();
  if (take("w")) return word_characters();
  if (take("W")) return word_characters().complement();
  if (take("s")) return spaces();
  if (take("S")) return spaces().complement();
  if (take("p")) return property(false);
  if (take("P")) return property(true);
  is_single = true;
  const auto one = [](char32_t code) { return CodePoints(code, code); };
  constexpr std::string_view kNames = "tnvfr", kCodes = "\t\n\v\f\r";
  if (const std::size_t i = kNames.find(c); i != std::string_view::npos) {
    ++at_;
    return one(static_cast<unsigned char>(kCodes[i]));
  }
  if (is_in_class && take("b")) return one(0x8);
  if (take("0")) {
    if (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') return wrong("an octal escape", began);
    return one(0);
  }
  if (take("c")) {
    const char letter = at_end() ? ' ' : static_cast<char>(text_[at_] & ~0x20);
    if (letter < 'A' || letter > 'Z') return wrong("\\c without a letter", began);
    ++at_;
    return one(static_cast<char32_t>(letter - 'A' + 1));
  }
  if (take("x")) {
    WICK_TRY(const char32_t code, hex(2));
    return one(code);
  }
  if (take("u")) {
    WICK_TRY(const char32_t code, unicode_escape());
    return one(code);
  }
  // The flag u allows only syntax characters; patterns escape more than these.
  if (is_letter_or_digit(c)) return wrong(cat("an unknown escape (\\", c, ")"), began);
  WICK_TRY(const char32_t code, character());
  return one(code);
}

Result<void> SyntaxParser::count_ranges(const CodePoints& set) {
  n_ranges_ += set.ranges().size();
  if (n_ranges_ <= kMaxSyntaxRanges) return {};
  return Error{ErrorCode::kUnsupported,
               "regex_memory",
               cat("the classes of the pattern have more than ", kMaxSyntaxRanges, " ranges"),
               {}};
}

// Behind the bracket.
Result<CodePoints> SyntaxParser::character_class() {
  const std::size_t began = at_ - 1;
  const bool is_negative = take("^");
  CodePoints set;
  const auto member = [&](bool& is_single) -> Result<CodePoints> {
    if (take("\\")) return escape(true, is_single);
    is_single = true;
    WICK_TRY(const char32_t code, character());
    return CodePoints(code, code);
  };
  for (;;) {
    if (at_end()) return wrong("a '[' without its ']'", began);
    if (take("]")) break;
    const std::size_t place = at_;
    bool is_single = false, is_single_too = false;
    WICK_TRY(const CodePoints first, member(is_single));
    set.add(first);
    WICK_DO(count_ranges(first));
    const bool is_range = next_is("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (!is_range) continue;
    take("-");
    WICK_TRY(const CodePoints last, member(is_single_too));
    set.add(last);
    WICK_DO(count_ranges(last));
    if (!is_single || !is_single_too) {
      set.add(U'-', U'-');  // "[\w-.]": the hyphen is itself
      continue;
    }
    const char32_t from = first.ranges()[0].first, to = last.ranges()[0].first;
    if (to < from) return wrong("a range that ends before it begins", place);
    set.add(from, to);
  }
  return is_negative ? set.complement() : set;
}

}  // namespace wick::regex
