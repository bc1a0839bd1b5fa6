// Sets of Unicode code points as ascending ranges, and as expressions over their UTF-8 bytes.
// Surrogates are no characters and in no set. Load time; plain values.
#pragma once

#include <compare>
#include <optional>
#include <string_view>
#include <vector>

#include "regex/expr.h"

namespace wick::regex {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

struct CodeRange {
  char32_t first, last;
  friend auto operator<=>(const CodeRange&, const CodeRange&) = default;
};

class CodePoints {
 public:
  CodePoints() = default;

  CodePoints(char32_t first, char32_t last) { add(first, last); }

  static CodePoints all() { return {0, kLastCodePoint}; }

  void add(char32_t first, char32_t last);
  void add(const CodePoints& other);
  CodePoints complement() const;
  CodePoints intersection(const CodePoints& other) const;
  bool has(char32_t code) const;

  bool is_empty() const { return ranges().empty(); }

  // Ascending, neither touching nor overlapping.
  const std::vector<CodeRange>& ranges() const;

 private:
  void normalize() const;

  mutable std::vector<CodeRange> ranges_ = {};
  mutable bool is_normal_ = true;
};

// One character of the set, in UTF-8.
ExprId character_of(ExprPool& pool, const CodePoints& set);

// \p{…} of ECMA-262: a general category ("Lu", "Letter", "gc=L"), a script of unicode/table.h
// ("Script=Han"), Alphabetic, White_Space, Any, ASCII, Assigned. Nothing if the name is another
// one.
std::optional<CodePoints> unicode_property(std::string_view name);

// \p{…} of Oniguruma, as far as the table goes: a short category, a script, Alphabetic.
std::optional<CodePoints> oniguruma_property(std::string_view name);

CodePoints white_space();
// \w of Oniguruma. Outside of a bracket class Oniguruma uses another table below U+0100, which
// includes ² ³ ¹ ¼ ½ ¾.
CodePoints oniguruma_word_characters(bool in_class);

}  // namespace wick::regex
