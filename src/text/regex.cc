// The pattern is read twice by one recursive-descent parser: first to learn which code points it
// names, which fixes the universe of its sets, then to build sets and tree. Depth and size of the
// tree are limited.
#include "text/regex.h"

#include <algorithm>

#include "base/hex.h"
#include "text/limits.h"
#include "base/utf8.h"

namespace wick {
namespace {

using Kind = RegexNode::Kind;

bool is_letter(char32_t code) noexcept {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

class Parser {
 public:
  Parser(std::string_view pattern, CharUniverse universe) : pattern_(pattern) {
    regex_.universe = std::move(universe);
  }

  bool run() {
    regex_.root = alternatives(0);
    return !has_failed_ && at_ == pattern_.size();
  }

  std::vector<char32_t>& borders() noexcept { return borders_; }

  Regex& regex() noexcept { return regex_; }

 private:
  int refuse() noexcept {
    has_failed_ = true;
    return -1;
  }

  bool is_over() const noexcept { return has_failed_ || at_ >= pattern_.size(); }

  bool starts(std::string_view text) const noexcept {
    return pattern_.substr(at_, text.size()) == text;
  }

  bool take(std::string_view text) noexcept {
    if (!starts(text)) return false;
    at_ += text.size();
    return true;
  }

  int add_node(RegexNode node) {
    if (regex_.nodes.size() >= kMaxRegexNodes) return refuse();
    regex_.nodes.push_back(std::move(node));
    return static_cast<int>(regex_.nodes.size()) - 1;
  }

  int add_set_node(Kind kind, CharSet set) {
    regex_.sets.push_back(std::move(set));
    return add_node({.kind = kind, .set = static_cast<int>(regex_.sets.size()) - 1});
  }

  // --- structure --------------------------------------------------------------------------------

  int alternatives(int depth) {
    if (depth > kMaxRegexDepth) return refuse();
    std::vector<int> parts{sequence(depth)};
    while (!is_over() && take("|")) {
      parts.push_back(sequence(depth));
    }
    if (has_failed_ || parts.size() == 1) return parts[0];
    return add_node({.kind = Kind::kAlternatives, .parts = std::move(parts)});
  }

  int sequence(int depth) {
    std::vector<int> parts;
    while (!is_over() && !starts("|") && !starts(")")) {
      const int part = item(depth);
      if (has_failed_) return -1;
      parts.push_back(quantified(part));
    }
    return add_node({.kind = Kind::kSequence, .parts = std::move(parts)});
  }

  int item(int depth) {
    if (take("(")) return group(depth);
    if (take("[")) return add_set_node(Kind::kSet, bracket(depth + 1));
    if (take(".")) return add_set_node(Kind::kSet, all_but_newline());
    if (take("$")) return add_set_node(Kind::kLook, newline_or_end());
    if (starts("^") || starts("*") || starts("+") || starts("?")) return refuse();
    if (starts("\\z")) {
      at_ += 2;
      CharSet end(regex_.universe);
      end.add(regex_.universe.end_of_text());
      return add_set_node(Kind::kLook, std::move(end));
    }
    CharSet set(regex_.universe);
    if (starts("\\")) {
      if (!class_escape(set, false)) add_character(escaped(), set);
    } else {
      add_character(character(), set);
    }
    return add_set_node(Kind::kSet, std::move(set));
  }

  int group(int depth) {
    if (starts("?=") || starts("?!")) return look(depth);
    const bool was_caseless = is_caseless_;
    if (take("?i:")) {
      is_caseless_ = true;
    } else if (!take("?:") && starts("?")) {
      return refuse();
    }
    const int inside = alternatives(depth + 1);
    is_caseless_ = was_caseless;
    if (!take(")")) return refuse();
    return inside;
  }

  // (?=X) and (?!X) where X is one set; a text that is over has no X.
  int look(int depth) {
    const bool is_negated = starts("?!");
    at_ += 2;
    const int inside = item(depth + 1);
    if (has_failed_ || !take(")")) return refuse();
    const RegexNode& node = regex_.nodes[static_cast<std::size_t>(inside)];
    if (node.kind != Kind::kSet) return refuse();
    CharSet next = regex_.sets[static_cast<std::size_t>(node.set)];
    if (is_negated) next.complement(regex_.universe, true);
    return add_set_node(Kind::kLook, std::move(next));
  }

  int quantified(int part) {
    RegexNode node{.kind = Kind::kRepeat, .parts = {part}};
    if (take("?")) {
      node.max = 1;
    } else if (take("*")) {
      node.max = -1;
    } else if (take("+")) {
      node.min = 1;
      node.max = -1;
    } else if (starts("{")) {
      if (!counts(node) || starts("?")) return refuse();
      if (starts("+") || starts("*") || starts("{")) return refuse();
      return may_repeat(part) ? add_node(std::move(node)) : refuse();
    } else {
      return part;
    }
    node.is_lazy = take("?");
    if (starts("?") || starts("*") || starts("+") || starts("{")) return refuse();
    return may_repeat(part) ? add_node(std::move(node)) : refuse();
  }

  // What may match nothing is not repeated: engines differ in when they stop doing so.
  bool may_repeat(int part) const { return !matches_nothing(part); }

  bool matches_nothing(int part) const {
    const RegexNode& node = regex_.nodes[static_cast<std::size_t>(part)];
    const auto empty = [&](int p) { return matches_nothing(p); };
    switch (node.kind) {
      case Kind::kSet:
        return false;
      case Kind::kLook:
        return true;
      case Kind::kSequence:
        return std::all_of(node.parts.begin(), node.parts.end(), empty);
      case Kind::kAlternatives:
        return std::any_of(node.parts.begin(), node.parts.end(), empty);
      case Kind::kRepeat:
        return node.min == 0 || matches_nothing(node.parts[0]);
    }
    return true;
  }

  // {n}, {n,} or {n,m}.
  bool counts(RegexNode& node) {
    ++at_;
    const auto number = [&]() -> int {
      int n = -1;
      while (at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9') {
        n = std::min(std::max(n, 0) * 10 + (pattern_[at_++] - '0'), kMaxRegexRepeat + 1);
      }
      return n;
    };
    node.min = number();
    if (node.min < 0) return false;
    node.max = take(",") ? number() : node.min;
    const bool is_sane = node.min <= kMaxRegexRepeat && node.max <= kMaxRegexRepeat &&
                         (node.max < 0 || node.max >= node.min) && node.max != 0;
    return is_sane && take("}");
  }

  // --- characters -------------------------------------------------------------------------------

  void add_border_range(char32_t first, char32_t last) {
    if (last < kFirstNonAscii) return;
    borders_.push_back(std::max(first, kFirstNonAscii));
    borders_.push_back(last + 1);
  }

  void add_range(char32_t first, char32_t last, CharSet& set) {
    add_border_range(first, last);
    set.add_range(regex_.universe, first, last);
  }

  // Without regard to case: ASCII letters, and the two others whose lower case is one of them.
  void add_character(char32_t code, CharSet& set) {
    add_range(code, code, set);
    if (!is_caseless_) return;
    if (code >= kFirstNonAscii) refuse();
    if (!is_letter(code)) return;
    const char32_t other = code ^ 0x20U;
    add_range(other, other, set);
    const char32_t lower = code | 0x20U;
    if (lower == 's') add_range(0x17F, 0x17F, set);    // ſ
    if (lower == 'k') add_range(0x212A, 0x212A, set);  // the Kelvin sign
  }

  CharSet all_but_newline() {
    CharSet set(regex_.universe);
    set.add('\n');
    set.complement(regex_.universe, false);
    return set;
  }

  CharSet newline_or_end() {
    CharSet set(regex_.universe);
    set.add('\n');
    set.add(regex_.universe.end_of_text());
    return set;
  }

  char32_t character() {
    if (is_over()) return static_cast<char32_t>(refuse()) & 0x7FU;
    const Utf8Char next = decode_utf8(pattern_.substr(at_));
    if (!next.is_valid) refuse();
    at_ += static_cast<std::size_t>(next.length);
    return next.code;
  }

  // A backslash and what stands for one character.
  char32_t escaped() {
    ++at_;
    const char32_t code = character();
    switch (code) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'u':
        return hexadecimal(4);
      case 'x':
        return take("{") ? braced_hexadecimal() : low_hexadecimal();
      default:
        break;
    }
    const bool is_digit = code >= '0' && code <= '9';
    if (is_letter(code) || is_digit || code >= kFirstNonAscii) refuse();
    return code;
  }

  char32_t hexadecimal(std::size_t digits) {
    char32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int value = at_ < pattern_.size() ? hex_value(pattern_[at_]) : -1;
      if (value < 0) return static_cast<char32_t>(refuse()) & 0x7FU;
      code = code * 16 + static_cast<char32_t>(value);
      ++at_;
    }
    if (code > kLastCharacter || (code >= 0xD800 && code < 0xE000)) refuse();
    return code;
  }

  char32_t low_hexadecimal() {  // Oniguruma's \xHH is a byte, and so a character below 0x80 only
    const char32_t code = hexadecimal(2);
    if (code >= kFirstNonAscii) refuse();
    return code;
  }

  char32_t braced_hexadecimal() {
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos || end == at_ || end - at_ > 6) {
      return static_cast<char32_t>(refuse()) & 0x7FU;
    }
    const char32_t code = hexadecimal(end - at_);
    if (!take("}")) refuse();
    return code;
  }

  // Outside of a class, Oniguruma has a table of its own for what is below U+0100: ² ³ ¹ ¼ ½ ¾.
  void add_latin1_words(CharSet& set) {
    add_range(0xB2, 0xB3, set);
    add_range(0xB9, 0xB9, set);
    add_range(0xBC, 0xBE, set);
  }

  // \s \d \w \p{..} and their opposites; false, with nothing read, where the escape is another.
  bool class_escape(CharSet& out, bool in_class) {
    if (at_ + 1 >= pattern_.size()) return false;
    const char c = pattern_[at_ + 1];
    CharSet set(regex_.universe);
    bool is_negated = c >= 'A' && c <= 'Z';
    switch (c | 0x20) {
      case 's':
        set.add_spaces(regex_.universe);
        break;
      case 'd':
        set.add_property(regex_.universe, "Nd");
        break;
      case 'w':
        set.add_words(regex_.universe);
        if (!in_class) add_latin1_words(set);
        break;
      case 'p': {
        const std::size_t end = pattern_.find('}', at_);
        if (end == std::string_view::npos || pattern_.substr(at_ + 2, 1) != "{") return false;
        std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
        if (name.substr(0, 1) == "^") {
          is_negated = !is_negated;
          name.remove_prefix(1);
        }
        if (!set.add_property(regex_.universe, name)) refuse();
        at_ = end - 1;
        break;
      }
      default:
        return false;
    }
    if (is_caseless_) refuse();  // Oniguruma folds classes, too
    at_ += 2;
    if (is_negated) set.complement(regex_.universe, false);
    out.add_all(set);
    return true;
  }

  // What stands behind a '[': members, ranges, classes within, '&&' between.
  CharSet bracket(int depth) {
    CharSet all(regex_.universe);
    if (depth > kMaxRegexDepth) refuse();
    const bool is_negated = take("^");
    if (is_negated && is_caseless_) refuse();
    if (starts("]") || starts(":")) refuse();
    CharSet part(regex_.universe);
    bool has_common = false;
    while (!is_over() && !starts("]")) {
      if (take("&&")) {
        if (has_common) part.keep_common(all);
        all = part;
        part = CharSet(regex_.universe);
        has_common = true;
      } else {
        member(depth, part);
      }
    }
    if (!take("]")) refuse();
    if (has_common) part.keep_common(all);
    if (is_negated) part.complement(regex_.universe, false);
    return part;
  }

  void member(int depth, CharSet& set) {
    if (take("[")) {
      set.add_all(bracket(depth + 1));
      return;
    }
    if (starts("\\") && class_escape(set, true)) {
      // "\s-x" is read in more than one way.
      if (starts("-") && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') refuse();
      return;
    }
    const char32_t first = starts("\\") ? escaped() : character();
    const bool is_range = starts("-") && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
    if (!is_range) {
      add_character(first, set);
      return;
    }
    ++at_;
    if (starts("[") || starts("&&")) refuse();
    const char32_t last = starts("\\") ? escaped() : character();
    if (last < first || (is_caseless_ && last >= kFirstNonAscii)) refuse();
    if (has_failed_) return;
    add_range(first, last, set);
    for (char32_t code = first; is_caseless_ && code <= last; ++code) {
      add_character(code, set);
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool is_caseless_ = false;
  bool has_failed_ = false;
  std::vector<char32_t> borders_ = {};
  Regex regex_ = {};
};

}  // namespace

std::optional<Regex> parse_regex(std::string_view pattern) {
  Parser first(pattern, CharUniverse());
  if (!first.run() || first.borders().size() > kMaxRegexBorders) return std::nullopt;
  Parser second(pattern, CharUniverse(std::move(first.borders())));
  if (!second.run()) return std::nullopt;
  return std::move(second.regex());
}

}  // namespace wick
