#include "grammar/grammar_text.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "grammar/limits.h"

namespace wick::grammar {

Error GrammarText::bad(std::string what) const {
  const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {.code = ErrorCode::kInvalid,
          .id = "bad_grammar",
          .message = cat("line ", line, ", column ", before.size() - begin + 1, ": ", what),
          .offset = static_cast<std::int64_t>(before.size())};
}

Error GrammarText::too_large(std::string_view what, std::size_t limit) {
  return {.code = ErrorCode::kUnsupported,
          .id = "grammar_size",
          .message = cat("the grammar has more than ", limit, " ", what)};
}

bool GrammarText::take(std::string_view what) noexcept {
  if (text_.substr(std::min(at_, text_.size()), what.size()) != what) return false;
  at_ += what.size();
  return true;
}

Result<std::uint32_t> GrammarText::quoted(char quote) {
  GrammarNode node{.kind = GrammarNode::Kind::kText};
  for (++at_; next() != quote;) {
    WICK_TRY(const char32_t code, character(std::string_view(&quote, 1)));
    append_utf8(node.text, code);
  }
  ++at_;
  return add(std::move(node));
}

Result<void> GrammarText::check_defined() const {
  for (const GrammarRules::Rule& one : out_.rules) {
    if (!one.is_defined) return bad(cat("the rule '", printable(one.name), "' is not defined"));
  }
  return {};
}

Result<std::string_view> GrammarText::take_until(std::string_view end) {
  const std::size_t found = text_.find(end, std::min(at_, text_.size()));
  if (found == std::string_view::npos) return bad(cat("'", end, "' is wanted"));
  const std::string_view out = text_.substr(at_, found - at_);
  at_ = found + end.size();
  return out;
}

std::uint32_t GrammarText::add(GrammarNode node) {
  out_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(out_.nodes.size() - 1);
}

std::uint32_t GrammarText::rule_named(std::string_view name) {
  const auto [known, is_new] = names_.try_emplace(std::string(name), out_.rules.size());
  if (is_new) out_.rules.push_back({.name = std::string(name)});
  return static_cast<std::uint32_t>(known->second);
}

Result<std::uint32_t> GrammarText::count() {
  std::uint64_t value = 0;
  const std::size_t begin = at_;
  for (; next() >= '0' && next() <= '9'; ++at_)
    value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(next() - '0'),
                                    kMaxGrammarCount + 1);
  if (at_ == begin) return bad("a number is wanted");
  if (value > kMaxGrammarCount) return too_large("repetitions of a part", kMaxGrammarCount);
  return static_cast<std::uint32_t>(value);
}

Result<char32_t> GrammarText::character(std::string_view end) {
  if (is_end()) return bad(cat("'", end, "' is wanted"));
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
    case '\'':
    case '[':
    case ']':
    case '-':
    case '^':
    case '/':
      return static_cast<char32_t>(c);
    default:
      --at_;
      return bad("this escape is not known");
  }
}

Result<char32_t> GrammarText::hex(int n_digits) {
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

// `name` is what stands between < and >.
Result<std::string> GrammarText::token(std::string_view name, const TokenNames& names) const {
  const bool is_number =
      name.size() > 2 && name.starts_with('[') && name.ends_with(']') &&
      std::all_of(name.begin() + 1, name.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number && name.size() <= 10)
    return special_token(
        static_cast<TokenId>(std::stoul(std::string(name.substr(1, name.size() - 2)))));
  if (is_number || name.starts_with('[')) return bad("this is no id of a token");
  const std::string whole = cat("<", name, ">");
  if (!names) return whole;  // without a model: its text
  const auto id = names(whole);
  if (!id) return bad(cat("the model has no token ", printable(whole, 60)));
  return special_token(*id);
}

}  // namespace wick::grammar
