// What the two parsers do alike.
#include "regex/syntax.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "regex/limits.h"

namespace wick::regex {
namespace {

constexpr bool is_surrogate(char32_t c) noexcept {
  return c >= 0xD800 && c < 0xE000;
}

}  // namespace

Error refused(std::string_view what, std::size_t at, std::string_view why) {
  return {
      .code = ErrorCode::kUnsupported,
      .id = "regex_unsupported",
      .message = cat("the pattern has ", what, " at byte ", at, ", which is not supported: ", why),
      .offset = static_cast<std::int64_t>(at)};
}

Error too_large(std::string what) {
  return {ErrorCode::kUnsupported, "regex_memory", std::move(what), {}};
}

Error SyntaxParser::wrong(std::string_view what, std::size_t at) const {
  return {.code = ErrorCode::kInvalid,
          .id = "regex_syntax",
          .message = cat("the pattern \"", printable(text_, 80), "\" has ", what, " at byte ", at),
          .hint = std::string(hint_),
          .offset = static_cast<std::int64_t>(at)};
}

Result<SyntaxTree> SyntaxParser::parse() {
  if (text_.size() > kMaxPatternBytes) {
    return too_large(cat("the pattern has ", text_.size(), " bytes, at most ", kMaxPatternBytes,
                         " are allowed"));
  }
  WICK_TRY(tree_.root, alternatives());
  if (!at_end()) return wrong("a ')' that closes nothing", at_);
  return std::move(tree_);
}

Result<std::uint32_t> SyntaxParser::add(Syntax node) {
  if (tree_.nodes.size() >= kMaxSyntaxNodes) {
    return too_large(cat("the pattern has more than ", kMaxSyntaxNodes, " parts"));
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
    return too_large(cat("the pattern has groups nested deeper than ", kMaxNesting));
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

Result<std::uint32_t> SyntaxParser::group_name(std::size_t began) {
  const std::size_t name = at_;
  while (!at_end() && text_[at_] != '>') {
    ++at_;
  }
  if (at_ == name || !take(">")) return wrong("a group name without its '>'", began);
  return 0U;
}

Result<std::uint32_t> SyntaxParser::number() {
  std::uint64_t value = 0;
  const std::size_t began = at_;
  for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    value =
        std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(text_[at_] - '0'), kUnbounded);
  }
  if (value > kMaxCount) {
    return too_large(cat("the pattern repeats ",
                         text_.substr(began, std::min<std::size_t>(at_ - began, 20)),
                         " times at byte ", began, ", at most ", kMaxCount, " are allowed"));
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

Result<char32_t> SyntaxParser::character() {
  const Utf8Char c = at_end() ? Utf8Char() : decode_utf8(text_.substr(at_));
  if (!c.is_valid) return wrong("bytes that are not UTF-8", at_);
  at_ += static_cast<std::size_t>(c.length);
  return c.code;
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

Result<char32_t> SyntaxParser::braced_hex(std::size_t began) {
  char32_t value = 0;
  const std::size_t first = at_;
  for (; !at_end() && hex_value(text_[at_]) >= 0 && value <= kLastCodePoint; ++at_) {
    value = value * 16 + static_cast<char32_t>(hex_value(text_[at_]));
  }
  if (at_ == first || value > kLastCodePoint || !take("}") || is_surrogate(value)) {
    return wrong("an escape \\u{…} that is no character", began);
  }
  return value;
}

Result<CodePoints> SyntaxParser::property(
    bool is_negative, std::optional<CodePoints> (*known)(std::string_view name)) {
  const std::size_t began = at_ - 2;
  if (!take("{")) return wrong("\\p without a {name}", began);
  const std::size_t end = text_.find('}', at_);
  if (end == std::string_view::npos) return wrong("\\p{ without its '}'", began);
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end + 1;
  auto found = properties_.find(name);
  if (found == properties_.end()) {
    auto set = known(name);
    if (!set) {
      return refused(cat("the property \\p{", printable(name, 40), "}"), began,
                     "only general categories, a few scripts and Alphabetic are known");
    }
    found = properties_.emplace(std::string(name), *std::move(set)).first;
  }
  return is_negative ? found->second.complement() : found->second;
}

Result<void> SyntaxParser::count_ranges(const CodePoints& set) {
  n_ranges_ += set.ranges().size();
  if (n_ranges_ <= kMaxSyntaxRanges) return {};
  return too_large(cat("the classes of the pattern have more than ", kMaxSyntaxRanges, " ranges"));
}

}  // namespace wick::regex
