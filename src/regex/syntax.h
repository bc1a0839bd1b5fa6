// The syntax tree of a pattern. Two parsers produce it: ECMA-262 (ecma_syntax.cc, ecma_atoms.cc)
// and Oniguruma's Ruby syntax (oniguruma.cc). Two compilers read it: ecma.cc compiles it to a
// language, dfa.cc to a DFA that finds the match of a backtracking engine. Load time only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  kStart,         // ^: of the text (ECMA-262), of a line (Ruby)
  kEnd,           // $: the same
  kBorder,        // \b; \B where is_negative
  kAhead,         // one part: (?=…); (?!…) where is_negative
  kBehind,        // (?<=…), (?<!…)
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::kSequence;
  bool is_negative = false;
  bool is_lazy = false;        // kRepeat: as few times as possible (Ruby)
  bool is_possessive = false;  // kRepeat of one character: gives none back (Ruby)
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

Result<SyntaxTree> parse_ecma_syntax(std::string_view pattern);
Result<SyntaxTree> parse_oniguruma(std::string_view pattern);

// The error for a refused construct; `what` is its name, "a back-reference (\1)".
Error refused(std::string_view what, std::size_t at, std::string_view why);
// The error for a limit; `what` exceeds the limit.
Error too_large(std::string what);

CodePoints word_characters();  // of ECMA-262

// The common part of both parsers: cursor, alternatives, sequences, numbers, characters.
class SyntaxParser {
 public:
  virtual ~SyntaxParser() = default;

  Result<SyntaxTree> parse();

 protected:
  SyntaxParser(std::string_view pattern, std::string_view hint) : text_(pattern), hint_(hint) {}

  // One character, class, group or assertion, and its quantifier.
  virtual Result<std::uint32_t> term() = 0;
  virtual Result<std::uint32_t> quantified(std::uint32_t part) = 0;

  Error wrong(std::string_view what, std::size_t at) const;

  bool at_end() const noexcept { return at_ == text_.size(); }

  bool next_is(std::string_view what) const noexcept { return text_.substr(at_).starts_with(what); }

  bool next_is_one_of(std::string_view characters) const noexcept {
    return !at_end() && characters.find(text_[at_]) != std::string_view::npos;
  }

  bool take(std::string_view what) noexcept {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }

  Result<std::uint32_t> add(Syntax node);
  Result<std::uint32_t> add_set(CodePoints set, std::size_t at);
  Result<std::uint32_t> alternatives();
  Result<std::uint32_t> sequence();
  Result<std::uint32_t> group_name(std::size_t began);

  // {m}, {m,}, {m,n}: false where the braces are none of these.
  Result<bool> counts(std::uint32_t& min, std::uint32_t& max);
  Result<std::uint32_t> number();

  // One character of the pattern, which must be UTF-8.
  Result<char32_t> character();
  Result<char32_t> hex(int digits);
  // After \u{ or \x{.
  Result<char32_t> braced_hex(std::size_t began);
  // Behind \p or \P. `known` finds the set of a name.
  Result<CodePoints> property(bool is_negative,
                              std::optional<CodePoints> (*known)(std::string_view name));
  Result<void> count_ranges(const CodePoints& set);

  std::string_view text_, hint_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t n_ranges_ = 0;
  SyntaxTree tree_ = {};
  std::map<std::string, CodePoints, std::less<>> properties_ = {};
};

}  // namespace wick::regex
