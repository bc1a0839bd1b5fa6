// What every character is: general category, White_Space, and the script where a tokenizer's
// pattern asks for it, as Hugging Face's tokenizers 0.23.3 has them (Unicode 16). Each combination
// that occurs is an "atom", a small number; a class of a pattern is a set of atoms. The tables are
// made by tools/goldens/text_unicode_table.py. Constant data, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wick {

struct UnicodeAtom {
  std::string_view category;  // "Lu"; empty: a number that stands for no character
  std::string_view script;    // "Han", …; empty: none of those in the table
  bool is_space;              // White_Space
};

std::span<const UnicodeAtom> unicode_atoms() noexcept;

extern const std::uint16_t kUnicodeStage1[];
extern const char kUnicodeStage2[];

// The atom of a character below U+110000.
inline int unicode_atom(char32_t code) noexcept {
  constexpr unsigned kBlock = 128;
  return kUnicodeStage2[kUnicodeStage1[code / kBlock] * kBlock + code % kBlock] - '!';
}

}  // namespace wick
