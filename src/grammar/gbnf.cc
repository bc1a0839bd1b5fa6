#include "grammar/gbnf.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "grammar/limits.h"

namespace wick::grammar {

namespace {

using Kind = GrammarNode::Kind;

bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<GrammarRules> parse() {
    if (text_.size() > kMaxGrammarBytes) return too_large("bytes", kMaxGrammarBytes);
    space(true);
    while (at_ < text_.size())
      WICK_DO(rule());
    const auto root = names_.find("root");
    if (root == names_.end() || !out_.rules[root->second].is_defined)
      return bad("there is no rule 'root'");
    out_.start = root->second;
    for (const GrammarRules::Rule& one : out_.rules) {
      if (!one.is_defined) return bad(cat("the rule '", printable(one.name), "' is not defined"));
    }
    return std::move(out_);
  }

 private:
  Error bad(std::string what) const {
    const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0
                                                                           : before.rfind('\n') + 1;
    return {.code = ErrorCode::kInvalid,
            .id = "bad_grammar",
            .message = cat("line ", line, ", column ", before.size() - begin + 1, ": ", what)};
  }

  static Error too_large(std::string_view what, std::size_t limit) {
    return {.code = ErrorCode::kUnsupported,
            .id = "grammar_size",
            .message = cat("the grammar has more than ", limit, " ", what)};
  }

  char next() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(std::string_view what) noexcept {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  void space(bool with_lines) noexcept {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()) - 1;
      } else if (c != ' ' && c != '\t' && !(with_lines && (c == '\n' || c == '\r'))) {
        return;
      }
    }
  }

  // A rule may go on in a line that begins with |.
  void space_before_bar(bool is_nested) noexcept {
    space(is_nested);
    const std::size_t here = at_;
    space(true);
    if (next() != '|') at_ = here;
  }

  std::uint32_t add(GrammarNode node) {
    out_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }

  std::uint32_t rule_named(std::string_view name) {
    const auto [known, is_new] = names_.try_emplace(std::string(name), out_.rules.size());
    if (is_new) out_.rules.push_back({.name = std::string(name)});
    return static_cast<std::uint32_t>(known->second);
  }

  std::string_view word() noexcept {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_]))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> rule() {
    const std::string_view name = word();
    if (name.empty()) return bad("the name of a rule is wanted");
    const std::uint32_t id = rule_named(name);
    if (out_.rules[id].is_defined) return bad(cat("the rule '", name, "' is defined twice"));
    space(false);
    if (!take("::=")) return bad("'::=' is wanted");
    space(true);
    WICK_TRY(out_.rules[id].body, choice(0));
    out_.rules[id].is_defined = true;
    if (at_ < text_.size() && next() != '\n' && next() != '\r')
      return bad(cat("'", printable(text_.substr(at_, 1)), "' does not belong here"));
    space(true);
    return {};
  }

  Result<std::uint32_t> choice(int depth) {
    if (depth > kMaxGrammarDepth)
      return too_large("levels of parentheses", std::size_t{kMaxGrammarDepth});
    GrammarNode node{.kind = Kind::kChoice};
    do {
      space(true);
      WICK_TRY(const std::uint32_t one, sequence(depth));
      node.children.push_back(one);
      space_before_bar(depth > 0);
    } while (take("|"));
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> sequence(int depth) {
    GrammarNode node{.kind = Kind::kSequence};
    while (true) {
      if (out_.nodes.size() > kMaxGrammarNodes) return too_large("parts", kMaxGrammarNodes);
      std::uint32_t one = 0;
      const char c = next();
      if (c == '"') {
        WICK_TRY(one, literal());
      } else if (c == '[') {
        WICK_TRY(one, bracket());
      } else if (c == '.') {
        ++at_;
        one = add({.kind = Kind::kClass, .set = regex::CodePoints::all()});
      } else if (c == '(') {
        WICK_TRY(one, group(depth));
      } else if (c == '<' || c == '!') {
        return Error{ErrorCode::kUnsupported, "grammar_tokens",
                     bad("terminals that are tokens are not supported").message, {}};
      } else if (is_word(c)) {
        one = add({.kind = Kind::kRule, .rule = rule_named(word())});
      } else {
        break;
      }
      WICK_TRY(one, repeated(one));
      node.children.push_back(one);
      space(depth > 0);
    }
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<std::uint32_t> group(int depth) {
    ++at_;
    WICK_TRY(const std::uint32_t inner, choice(depth + 1));
    space(true);
    if (!take(")")) return bad("')' is wanted");
    return inner;
  }

  Result<std::uint32_t> repeated(std::uint32_t one) {
    while (true) {
      space(false);
      std::uint32_t min = 0, max = regex::kUnbounded;
      if (take("+")) {
        min = 1;
      } else if (take("?")) {
        max = 1;
      } else if (take("{")) {
        WICK_DO(bounds(min, max));
      } else if (!take("*")) {
        return one;
      }
      one = add({.kind = Kind::kRepeat, .min = min, .max = max, .children = {one}});
    }
  }

  Result<void> bounds(std::uint32_t& min, std::uint32_t& max) {
    WICK_TRY(min, number());
    space(false);
    max = min;
    if (take(",")) {
      space(false);
      max = regex::kUnbounded;
      if (next() != '}') {
        WICK_TRY(max, number());
      }
    }
    space(false);
    if (!take("}")) return bad("'}' is wanted");
    if (max < min) return bad("the bounds are in the wrong order");
    return {};
  }

  Result<std::uint32_t> number() {
    space(false);
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; next() >= '0' && next() <= '9'; ++at_)
      value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(next() - '0'),
                                      kMaxGrammarCount + 1);
    if (at_ == begin) return bad("a number is wanted");
    if (value > kMaxGrammarCount) return too_large("repetitions of a part", kMaxGrammarCount);
    return static_cast<std::uint32_t>(value);
  }

  Result<std::uint32_t> literal() {
    GrammarNode node{.kind = Kind::kText};
    for (++at_; next() != '"';) {
      WICK_TRY(const char32_t code, character("\""));
      append_utf8(node.text, code);
    }
    ++at_;
    return add(std::move(node));
  }

  Result<std::uint32_t> bracket() {
    ++at_;
    const bool is_negative = take("^");
    regex::CodePoints set;
    while (next() != ']') {
      WICK_TRY(const char32_t first, character("]"));
      char32_t last = first;
      if (next() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        WICK_TRY(last, character("]"));
      }
      if (last < first) return bad("the ends of a range are in the wrong order");
      set.add(first, last);
    }
    ++at_;
    return add({.kind = Kind::kClass, .set = is_negative ? set.complement() : std::move(set)});
  }

  Result<char32_t> character(std::string_view end) {
    if (at_ >= text_.size()) return bad(cat("'", end, "' is wanted"));
    if (text_[at_] != '\\') {
      const Utf8Char one = decode_utf8(text_.substr(at_));
      if (!one.is_valid) return bad("invalid UTF-8");
      at_ += static_cast<std::size_t>(one.length);
      return one.code;
    }
    ++at_;
    const char c = next();
    ++at_;
    switch (c) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<char32_t>(c);
      default:
        --at_;
        return bad("this escape is not known");
    }
  }

  Result<char32_t> hex(int n_digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < n_digits; ++i, ++at_) {
      const char c = next();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return bad("a hexadecimal digit is wanted");
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value > regex::kLastCodePoint || is_surrogate) return bad("this is no character");
    return static_cast<char32_t>(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  GrammarRules out_ = {};
  std::unordered_map<std::string, std::uint32_t> names_ = {};
};

}  // namespace

Result<GrammarRules> parse_gbnf(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace wick::grammar
