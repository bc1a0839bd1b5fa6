#include "grammar/gbnf.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
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
    space(true);
    while (at_ < text_.size())
      WICK_DO(rule());
    const auto root = names_.find("root");
    if (root == names_.end() || !out_.rules[root->second].is_defined)
      return bad("there is no rule 'root'");
    out_.start = root->second;
    WICK_DO(check_defined());
    return std::move(out_);
  }

 private:
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
      space_before_bar([this, depth](bool is_bar) { space(is_bar || depth > 0); });
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
        WICK_TRY(one, quoted('"'));
      } else if (c == '[') {
        WICK_TRY(one, bracket([this] { return character("]"); }));
      } else if (c == '.') {
        ++at_;
        one = add({.kind = Kind::kClass, .set = regex::CodePoints::all()});
      } else if (c == '(') {
        WICK_TRY(one, group(depth));
      } else if (c == '<') {
        ++at_;
        WICK_TRY(const std::string_view name, take_until(">"));
        WICK_TRY(std::string bytes, token(name, names_of_));
        one = add({.kind = Kind::kText, .text = std::move(bytes)});
      } else if (c == '!') {
        return Error{ErrorCode::kUnsupported,
                     "grammar_tokens",
                     bad("all tokens but one (!<…>) are not supported").message,
                     {}};
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
    return count();
  }

  const TokenNames& names_of_;
};

}  // namespace

Result<GrammarRules> parse_gbnf(std::string_view text, const TokenNames& names) {
  return Parser(text, names).parse();
}

}  // namespace wick::grammar
