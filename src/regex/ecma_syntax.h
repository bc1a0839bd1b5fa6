// The syntax tree of an ECMA-262 pattern, between its parser (ecma_syntax.cc, ecma_atoms.cc) and
// its compiler (ecma.cc). Load time only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/code_points.h"

namespace wick::regex {

enum class SyntaxKind : std::uint8_t {
  kCharacter,     // the code point `min`
  kSet,           // one character of sets[set]
  kSequence,      // parts, perhaps none
  kAlternatives,  // parts
  kRepeat,        // one part, min to max times
  kStart,         // ^
  kEnd,           // $
  kBorder,        // \b; \B where is_negative
  kAhead,         // one part: (?=…); (?!…) where is_negative
  kBehind,        // (?<=…), (?<!…)
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::kSequence;
  bool is_negative = false;
  bool has_assertion = false;  // in itself or a part
  std::uint32_t set = 0;
  std::uint32_t min = 0, max = 0;
  std::uint32_t at = 0;  // byte of the pattern
  std::vector<std::uint32_t> parts = {};
};

struct SyntaxTree {
  std::vector<Syntax> nodes = {};
  std::vector<CodePoints> sets = {};
  std::uint32_t root = 0;
};

Result<SyntaxTree> parse_syntax(std::string_view pattern);

// The error of what is refused: `what` is its name, "a back-reference (\1)".
Error refused(std::string_view what, std::size_t at, std::string_view why);

CodePoints word_characters();

class SyntaxParser {
 public:
  explicit SyntaxParser(std::string_view pattern) : text_(pattern) {}

  Result<SyntaxTree> parse();

 private:
  Error wrong(std::string_view what, std::size_t at) const;

  bool at_end() const noexcept { return at_ == text_.size(); }

  bool next_is(std::string_view what) const noexcept { return text_.substr(at_).starts_with(what); }

  bool take(std::string_view what) noexcept {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }

  Result<std::uint32_t> add(Syntax node);
  Result<std::uint32_t> add_set(CodePoints set, std::size_t at);
  Result<std::uint32_t> alternatives();
  Result<std::uint32_t> sequence();
  Result<std::uint32_t> term();
  Result<std::uint32_t> group();
  Result<std::uint32_t> group_name(std::size_t began);
  Result<std::uint32_t> quantified(std::uint32_t part);
  Result<std::uint32_t> assertion_or_escape();

  // {m}, {m,}, {m,n}: false where the braces are none of these.
  Result<bool> counts(std::uint32_t& min, std::uint32_t& max);
  Result<std::uint32_t> number();

  // One character of the pattern, which must be UTF-8.
  Result<char32_t> character();
  // What stands after a backslash, of a set of characters or of one.
  Result<CodePoints> escape(bool is_in_class, bool& is_single);
  Result<CodePoints> property(bool is_negative);
  Result<char32_t> hex(int digits);
  Result<char32_t> unicode_escape();
  Result<CodePoints> character_class();
  Result<void> count_ranges(const CodePoints& set);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t n_ranges_ = 0;
  SyntaxTree tree_ = {};
  std::map<std::string, CodePoints, std::less<>> properties_ = {};
};

}  // namespace wick::regex
