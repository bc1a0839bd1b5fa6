// What the parsers of grammars share: a place in the text, errors that name it, characters and
// their escapes. One parse.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "grammar/grammar_rules.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

class GrammarText {
 public:
  explicit GrammarText(std::string_view text) : text_(text) {}

 protected:
  Error bad(std::string what) const;  // "line 3, column 7: …"
  static Error too_large(std::string_view what, std::size_t limit);

  char next(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // A character of a rule's name.
  static bool is_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  }

  bool is_end() const noexcept { return at_ >= text_.size(); }

  bool take(std::string_view what) noexcept;

  // The text up to `end`, which is taken, too.
  Result<std::string_view> take_until(std::string_view end);

  // One character, also \n \r \t \x41 \u0041 \U00000041 and \ before a sign.
  Result<char32_t> character(std::string_view end);
  Result<std::uint32_t> count();
  // A text between two quotes, with escapes; the place is at the first one.
  Result<std::uint32_t> quoted(char quote);

  // [a-z], [^"]: a class of characters, each of which `read()` reads.
  template <class Read>
  Result<std::uint32_t> bracket(const Read& read) {
    ++at_;
    const bool is_negative = take("^");
    regex::CodePoints set;
    while (next() != ']') {
      WICK_TRY(const char32_t first, read());
      char32_t last = first;
      if (next() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        WICK_TRY(last, read());
      }
      if (last < first) return bad("the ends of a range are in the wrong order");
      set.add(first, last);
    }
    ++at_;
    return add({.kind = GrammarNode::Kind::kClass,
                .set = is_negative ? set.complement() : std::move(set)});
  }

  // An alternative may go on in a line that begins with |: `space(true)` skips line ends, too.
  template <class Space>
  void space_before_bar(const Space& space) noexcept {
    space(false);
    const std::size_t here = at_;
    space(true);
    if (next() != '|') at_ = here;
  }

  std::uint32_t add(GrammarNode node);
  std::uint32_t rule_named(std::string_view name);
  Result<void> check_defined() const;  // every rule

  // The bytes of a control token, of which `name` is what stands between < and >: [7], |name|.
  Result<std::string> token(std::string_view name, const TokenNames& names) const;

  std::string_view text_;
  std::size_t at_ = 0;
  GrammarRules out_ = {};
  std::unordered_map<std::string, std::uint32_t> names_ = {};

 private:
  Result<char32_t> hex(int n_digits);
};

}  // namespace wick::grammar
