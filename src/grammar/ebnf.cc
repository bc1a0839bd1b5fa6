#include "grammar/ebnf.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "grammar/grammar_text.h"
#include "grammar/limits.h"

namespace wick::grammar {

namespace {

using Kind = GrammarNode::Kind;

class Parser : private GrammarText {
 public:
  Parser(std::string_view text, const TokenNames& names) : GrammarText(text), names_of_(names) {}

  Result<GrammarRules> parse() {
    if (text_.size() > kMaxGrammarBytes) return too_large("bytes", kMaxGrammarBytes);
    WICK_DO(space());
    while (!is_end()) {
      WICK_DO(rule());
      WICK_DO(space());
    }
    if (out_.rules.empty()) return bad("there is no rule");
    const auto root = names_.find("root");
    out_.start = root != names_.end() ? root->second : 0;
    WICK_DO(check_defined());
    return std::move(out_);
  }

 private:
  // Also comments: /* … */ (* … *) and # to the line's end.
  Result<void> space() {
    while (!is_end()) {
      const bool is_code = next() == '#' && next(1) == 'x';
      if (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r') {
        ++at_;
      } else if (take("/*")) {
        WICK_TRY(const auto comment, take_until("*/"));
        static_cast<void>(comment);
      } else if (take("(*")) {
        WICK_TRY(const auto comment, take_until("*)"));
        static_cast<void>(comment);
      } else if (next() == '#' && !is_code) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return {};
      }
    }
    return {};
  }

  std::string_view word() noexcept {
    const std::size_t begin = at_;
    while (is_word(next()) && !(next() == '-' && !is_word(next(1))))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> rule() {
    if (take("[")) {  // its number
      WICK_TRY(const auto number, take_until("]"));
      static_cast<void>(number);
      WICK_DO(space());
    }
    const std::string_view name = word();
    if (name.empty()) return bad("the name of a rule is wanted");
    const std::uint32_t id = rule_named(name);
    if (out_.rules[id].is_defined) return bad(cat("the rule '", name, "' is defined twice"));
    WICK_DO(space());
    is_iso_ = false;
    if (!take("::=")) {
      if (!take("=")) return bad("'::=' or '=' is wanted");
      is_iso_ = true;
    }
    WICK_TRY(out_.rules[id].body, choice(0));
    out_.rules[id].is_defined = true;
    if (take(";") || (is_iso_ && take("."))) return {};
    if (is_iso_) return bad("';' is wanted");
    if (!is_end() && !begins_rule())
      return bad(cat("'", printable(text_.substr(at_, 1)), "' does not belong here"));
    return {};
  }

  // A rule of W3C's dialect has no sign at its end: the next one begins with "name ::=".
  bool begins_rule() {
    if (is_iso_) return false;
    const std::size_t here = at_;
    bool begins = false;
    if (next() == '[') {
      const std::size_t end = text_.find(']', at_);
      begins = end != std::string_view::npos && end + 1 < text_.size();
      if (begins) at_ = end + 1;
      begins = begins && space() && !word().empty() && space() && take("::=");
    } else {
      begins = !word().empty() && space() && take("::=");
    }
    at_ = here;
    return begins;
  }

  Result<std::uint32_t> choice(int depth) {
    if (depth > kMaxGrammarDepth)
      return too_large("levels of parentheses", std::size_t{kMaxGrammarDepth});
    GrammarNode node{.kind = Kind::kChoice};
    do {
      WICK_TRY(const std::uint32_t one, sequence(depth));
      node.children.push_back(one);
    } while (take("|"));
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> sequence(int depth) {
    GrammarNode node{.kind = Kind::kSequence};
    while (true) {
      WICK_DO(space());
      if (out_.nodes.size() > kMaxGrammarNodes) return too_large("parts", kMaxGrammarNodes);
      if (is_end() || std::string_view("|)};").find(next()) != std::string_view::npos) break;
      if (next() == ']' || (is_iso_ && next() == '.') || begins_rule()) break;
      if (is_iso_ && take(",")) continue;
      WICK_TRY(std::uint32_t one, item(depth));
      WICK_DO(space());
      if (next() == '-' && !is_word(next(1))) {
        ++at_;
        WICK_DO(space());
        WICK_TRY(const std::uint32_t without, item(depth));
        one = add({.kind = Kind::kDifference, .children = {one, without}});
      }
      node.children.push_back(one);
    }
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> item(int depth) {
    if (is_iso_ && next() >= '0' && next() <= '9') {  // 3 * part
      WICK_TRY(const std::uint32_t n, count());
      WICK_DO(space());
      if (!take("*")) return bad("'*' is wanted");
      WICK_DO(space());
      WICK_TRY(const std::uint32_t one, atom(depth));
      return add({.kind = Kind::kRepeat, .min = n, .max = n, .children = {one}});
    }
    WICK_TRY(std::uint32_t one, atom(depth));
    while (!is_iso_) {
      std::uint32_t min = 0, max = regex::kUnbounded;
      if (take("+")) {
        min = 1;
      } else if (take("?")) {
        max = 1;
      } else if (take("{")) {
        WICK_DO(bounds(min, max));
      } else if (!take("*")) {
        break;
      }
      one = add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {one}});
    }
    return one;
  }

  Result<void> bounds(std::uint32_t& min, std::uint32_t& max) {
    WICK_DO(space());
    WICK_TRY(min, count());
    WICK_DO(space());
    max = min;
    if (take(",")) {
      WICK_DO(space());
      max = regex::kUnbounded;
      if (next() != '}') {
        WICK_TRY(max, count());
      }
      WICK_DO(space());
    }
    if (!take("}")) return bad("'}' is wanted");
    if (max < min) return bad("the bounds are in the wrong order");
    return {};
  }

  Result<std::uint32_t> atom(int depth) {
    const char c = next();
    if (c == '"' || c == '\'') return literal(c);
    if (c == '#') {
      WICK_TRY(const char32_t code, class_character("#"));
      regex::CodePoints set;
      set.add(code, code);
      return add({.kind = Kind::kClass, .set = std::move(set)});
    }
    if (c == '(') return group(depth, ")", 1, 1);
    if (is_iso_ && c == '[') return group(depth, "]", 0, 1);
    if (is_iso_ && c == '{') return group(depth, "}", 0, regex::kUnbounded);
    if (c == '[') return bracket([this] { return class_character("]"); });
    if (!is_iso_ && c == '.') {
      ++at_;
      return add({.kind = Kind::kClass, .set = regex::CodePoints::all()});
    }
    if (c == '<') {
      ++at_;
      WICK_TRY(const std::string_view name, take_until(">"));
      WICK_TRY(std::string bytes, token(name, names_of_));
      return add({.kind = Kind::kText, .text = std::move(bytes)});
    }
    const std::string_view name = word();
    if (name.empty())
      return bad(cat("'", printable(text_.substr(at_, 1)), "' does not belong here"));
    return add({.kind = Kind::kRule, .rule = rule_named(name)});
  }

  Result<std::uint32_t> group(int depth, std::string_view end, std::uint32_t min,
                              std::uint32_t max) {
    ++at_;
    WICK_TRY(const std::uint32_t inner, choice(depth + 1));
    WICK_DO(space());
    if (!take(end)) return bad(cat("'", end, "' is wanted"));
    if (min == 1) return inner;
    return add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {inner}});
  }

  // ISO's texts have no escapes.
  Result<std::uint32_t> literal(char quote) {
    if (!is_iso_) return quoted(quote);
    ++at_;
    GrammarNode node{.kind = Kind::kText};
    WICK_TRY(node.text, take_until(std::string_view(&quote, 1)));
    if (valid_utf8_prefix(node.text) != node.text.size()) return bad("invalid UTF-8");
    return add(std::move(node));
  }

  Result<char32_t> class_character(std::string_view end) {
    if (next() != '#' || next(1) != 'x') return character(end);
    at_ += 2;
    std::uint32_t value = 0;
    const std::size_t begin = at_;
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (; at_ < begin + 8; ++at_) {
      const auto c = static_cast<char>(next() >= 'A' && next() <= 'F' ? next() + 32 : next());
      const std::size_t digit = kDigits.find(c);
      if (c == '\0' || digit == std::string_view::npos) break;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (at_ == begin || value > regex::kLastCodePoint || is_surrogate)
      return bad("this is no character");
    return static_cast<char32_t>(value);
  }

  const TokenNames& names_of_;
  bool is_iso_ = false;
};

}  // namespace

Result<GrammarRules> parse_ebnf(std::string_view text, const TokenNames& names) {
  return Parser(text, names).parse();
}

}  // namespace wick::grammar
