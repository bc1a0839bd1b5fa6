// The parser: groups, quantifiers, assertions. Single characters and classes are in ecma_atoms.cc.
#include "regex/ecma_syntax.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace wick::regex {

Error refused(std::string_view what, std::size_t at, std::string_view why) {
  return {ErrorCode::kUnsupported,
          "regex_unsupported",
          cat("the pattern has ", what, " at byte ", at, ", which is not supported: ", why),
          {}};
}

Error SyntaxParser::wrong(std::string_view what, std::size_t at) const {
  return {ErrorCode::kInvalid, "regex_syntax",
          cat("the pattern \"", printable(text_, 80), "\" has ", what, " at byte ", at),
          "Patterns are ECMA-262 regular expressions."};
}

Result<SyntaxTree> parse_syntax(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Error{ErrorCode::kUnsupported,
                 "regex_memory",
                 cat("the pattern has ", pattern.size(), " bytes, at most ", kMaxPatternBytes,
                     " are allowed"),
                 {}};
  }
  return SyntaxParser(pattern).parse();
}

Result<SyntaxTree> SyntaxParser::parse() {
  WICK_TRY(tree_.root, alternatives());
  if (!at_end()) return wrong("a ')' that closes nothing", at_);
  return std::move(tree_);
}

Result<std::uint32_t> SyntaxParser::add(Syntax node) {
  if (tree_.nodes.size() >= kMaxSyntaxNodes) {
    return Error{ErrorCode::kUnsupported,
                 "regex_memory",
                 cat("the pattern has more than ", kMaxSyntaxNodes, " parts"),
                 {}};
  }
  node.has_assertion = node.kind >= SyntaxKind::kStart ||
                       std::any_of(node.parts.begin(), node.parts.end(),
                                   [&](std::uint32_t p) { return tree_.nodes[p].has_assertion; });
  tree_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
}

Result<std::uint32_t> SyntaxParser::add_set(CodePoints set, std::size_t at) {
  WICK_DO(count_ranges(set));
  tree_.sets.push_back(std::move(set));
  return add({.kind = SyntaxKind::kSet,
              .set = static_cast<std::uint32_t>(tree_.sets.size() - 1),
              .at = static_cast<std::uint32_t>(at)});
}

Result<std::uint32_t> SyntaxParser::alternatives() {
  if (++depth_ > kMaxNesting) {
    return Error{ErrorCode::kUnsupported,
                 "regex_memory",
                 cat("the pattern has groups nested deeper than ", kMaxNesting),
                 {}};
  }
  Syntax node{.kind = SyntaxKind::kAlternatives, .at = static_cast<std::uint32_t>(at_)};
  do {
    WICK_TRY(const std::uint32_t part, sequence());
    node.parts.push_back(part);
  } while (take("|"));
  --depth_;
  if (node.parts.size() == 1) return node.parts[0];
  return add(std::move(node));
}

Result<std::uint32_t> SyntaxParser::sequence() {
  Syntax node{.kind = SyntaxKind::kSequence, .at = static_cast<std::uint32_t>(at_)};
  while (!at_end() && !next_is("|") && !next_is(")")) {
    WICK_TRY(std::uint32_t part, term());
    WICK_TRY(part, quantified(part));
    node.parts.push_back(part);
  }
  if (node.parts.size() == 1) return node.parts[0];
  return add(std::move(node));
}

Result<std::uint32_t> SyntaxParser::term() {
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

Result<std::uint32_t> SyntaxParser::group_name(std::size_t began) {
  const std::size_t name = at_;
  while (!at_end() && text_[at_] != '>') {
    ++at_;
  }
  if (at_ == name || !take(">")) return wrong("a group name without its '>'", began);
  return 0U;
}

// Behind the parenthesis.
Result<std::uint32_t> SyntaxParser::group() {
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

Result<std::uint32_t> SyntaxParser::number() {
  std::uint64_t value = 0;
  const std::size_t began = at_;
  for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    value =
        std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(text_[at_] - '0'), kUnbounded);
  }
  if (value > kMaxCount) {
    return Error{
        ErrorCode::kUnsupported,
        "regex_memory",
        cat("the pattern repeats ", text_.substr(began, std::min<std::size_t>(at_ - began, 20)),
            " times at byte ", began, ", at most ", kMaxCount, " are allowed"),
        {}};
  }
  return static_cast<std::uint32_t>(value);
}

Result<bool> SyntaxParser::counts(std::uint32_t& min, std::uint32_t& max) {
  const std::size_t began = at_;
  const auto is_digit = [&] { return !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; };
  const auto no = [&] {
    at_ = began;
    return false;
  };
  if (!take("{") || !is_digit()) return no();
  WICK_TRY(min, number());
  max = min;
  if (take(",")) {
    max = kUnbounded;
    if (is_digit()) {
      WICK_TRY(max, number());
    }
  }
  if (!take("}")) return no();
  if (max < min) {
    return wrong(cat("a quantifier whose minimum ", min, " is above its maximum ", max), began);
  }
  return true;
}

// `part` with the quantifier behind it, if there is one; a lazy one has the same language.
Result<std::uint32_t> SyntaxParser::quantified(std::uint32_t part) {
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

// Behind a backslash outside of a class.
Result<std::uint32_t> SyntaxParser::assertion_or_escape() {
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

}  // namespace wick::regex
