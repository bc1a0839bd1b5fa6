// The parser of ECMA-262's syntax, with the flag u and the lenient escapes that patterns in JSON
// Schemas use.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "regex/syntax.h"

namespace wick::regex {

CodePoints word_characters() {
  CodePoints set(U'a', U'z');
  set.add(U'A', U'Z');
  set.add(U'0', U'9');
  set.add(U'_', U'_');
  return set;
}

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

class EcmaParser final : public SyntaxParser {
 public:
  explicit EcmaParser(std::string_view pattern)
      : SyntaxParser(pattern, "Patterns are ECMA-262 regular expressions.") {}

 private:
  Result<std::uint32_t> term() override;
  Result<std::uint32_t> quantified(std::uint32_t part) override;
  Result<std::uint32_t> group();
  Result<std::uint32_t> assertion_or_escape();
  // What stands after a backslash, of a set of characters or of one.
  Result<CodePoints> escape(bool is_in_class, bool& is_single);
  Result<char32_t> unicode_escape();
  Result<CodePoints> character_class();
};

Result<std::uint32_t> EcmaParser::term() {
  const std::size_t began = at_;
  const auto place = static_cast<std::uint32_t>(began);
  if (take("^")) return add({.kind = SyntaxKind::kStart, .at = place});
  if (take("$")) return add({.kind = SyntaxKind::kEnd, .at = place});
  if (take("(")) return group();
  if (take(".")) {
    CodePoints line_ends;
    for (const char32_t c : {U'\n', U'\r', U'\u2028', U'\u2029'}) {
      line_ends.add(c, c);
    }
    return add_set(line_ends.complement(), began);
  }
  if (take("[")) {
    WICK_TRY(CodePoints set, character_class());
    return add_set(std::move(set), began);
  }
  if (take("\\")) return assertion_or_escape();
  if (next_is("*") || next_is("+") || next_is("?")) {
    return wrong("a quantifier with nothing to repeat", began);
  }
  if (next_is("{")) {
    std::uint32_t min = 0, max = 0;
    WICK_TRY(const bool is_count, counts(min, max));
    if (is_count) return wrong("a quantifier with nothing to repeat", began);
  }
  WICK_TRY(const char32_t code, character());
  return add({.kind = SyntaxKind::kCharacter, .min = code, .at = place});
}

// After the parenthesis.
Result<std::uint32_t> EcmaParser::group() {
  const std::size_t began = at_ - 1;
  Syntax look{.kind = SyntaxKind::kSequence, .at = static_cast<std::uint32_t>(began)};
  if (take("?=") || take("?!")) {
    look.kind = SyntaxKind::kAhead;
    look.is_negative = text_[at_ - 1] == '!';
  } else if (take("?<=") || take("?<!")) {
    look.kind = SyntaxKind::kBehind;
    look.is_negative = text_[at_ - 1] == '!';
  } else if (take("?<")) {
    WICK_DO(group_name(began));
  } else if (!take("?:") && next_is("?")) {
    const bool has_flags = at_ + 1 < text_.size() &&
                           std::string_view("ims-").find(text_[at_ + 1]) != std::string_view::npos;
    if (has_flags) return refused("flags in a group (\"(?i:\")", began, "write both cases");
    return wrong("a group \"(?\" of a kind that ECMA-262 does not have", began);
  }
  WICK_TRY(const std::uint32_t part, alternatives());
  if (!take(")")) return wrong("a '(' without its ')'", began);
  if (look.kind == SyntaxKind::kSequence) return part;
  look.parts = {part};
  return add(std::move(look));
}

// `part` with the quantifier after it, if there is one; a lazy one has the same language.
Result<std::uint32_t> EcmaParser::quantified(std::uint32_t part) {
  const std::size_t began = at_;
  std::uint32_t min = 0, max = kUnbounded;
  if (take("+")) {
    min = 1;
  } else if (take("?")) {
    max = 1;
  } else if (!take("*")) {
    WICK_TRY(const bool is_count, counts(min, max));
    if (!is_count) return part;
  }
  take("?");
  if (next_is("*") || next_is("+") || next_is("?")) {
    return wrong("a quantifier after a quantifier", at_);
  }
  if (tree_.nodes[part].kind >= SyntaxKind::kStart)
    return wrong("a quantifier of an assertion", began);
  return add({.kind = SyntaxKind::kRepeat,
              .min = min,
              .max = max,
              .at = static_cast<std::uint32_t>(began),
              .parts = {part}});
}

// After a backslash outside of a class.
Result<std::uint32_t> EcmaParser::assertion_or_escape() {
  const std::size_t began = at_ - 1;
  const auto place = static_cast<std::uint32_t>(began);
  if (take("b")) return add({.kind = SyntaxKind::kBorder, .at = place});
  if (take("B")) return add({.kind = SyntaxKind::kBorder, .is_negative = true, .at = place});
  if (!at_end() && text_[at_] >= '1' && text_[at_] <= '9') {
    return refused(cat("a back-reference (\\", text_[at_], ")"), began,
                   "what it matches depends on what a group matched");
  }
  if (next_is("k<")) {
    return refused("a back-reference (\\k<…>)", began,
                   "what it matches depends on what a group matched");
  }
  bool is_single = false;
  WICK_TRY(CodePoints set, escape(false, is_single));
  return add_set(std::move(set), began);
}

// --- Characters, escapes and classes -------------------------------------------------------------

// After \u: four digits, a pair of surrogates, or braces.
Result<char32_t> EcmaParser::unicode_escape() {
  const std::size_t began = at_;
  if (take("{")) return braced_hex(began);
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

// After a backslash. `is_single`: one character, which may bound a range.
Result<CodePoints> EcmaParser::escape(bool is_in_class, bool& is_single) {
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
  if (take("p")) return property(false, unicode_property);
  if (take("P")) return property(true, unicode_property);
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

// After the bracket.
Result<CodePoints> EcmaParser::character_class() {
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

}  // namespace

Result<SyntaxTree> parse_ecma_syntax(std::string_view pattern) {
  return EcmaParser(pattern).parse();
}

}  // namespace wick::regex
