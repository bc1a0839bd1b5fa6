// The properties of every character: general category, White_Space, Alphabetic, and the scripts
// that tokenizer patterns use, as in Hugging Face's tokenizers 0.23.3 (Unicode 16). Each
// combination that occurs is an "atom", a small number; a class of a pattern is a set of atoms. The
// tables are made by tools/goldens/unicode_table.py. Constant data, any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace wick {

struct UnicodeAtom {
  std::string_view category;  // "Lu"; empty: a number that stands for no character
  std::string_view script;    // "Han", …; empty: none of those in the table
  bool is_space;              // White_Space
  bool is_alphabetic;         // Alphabetic: L, Nl, many marks, and symbols such as Ⓐ
};

// \w as Unicode defines it, but for the joiners; and Oniguruma's, inside of a class.
constexpr bool is_word(const UnicodeAtom& atom) noexcept {
  return atom.is_alphabetic || atom.category.starts_with('M') || atom.category == "Nd" ||
         atom.category == "Pc";
}

std::span<const UnicodeAtom> unicode_atoms() noexcept;

extern const std::uint16_t kUnicodeStage1[];
extern const char kUnicodeStage2[];

inline constexpr unsigned kUnicodeBlock = 128;  // characters side by side in the table

// The atom of a character below U+110000.
inline int unicode_atom(char32_t code) noexcept {
  const unsigned block = kUnicodeStage1[code / kUnicodeBlock];
  return kUnicodeStage2[block * kUnicodeBlock + code % kUnicodeBlock] - '!';
}

// Whether the characters of the block that starts with `first` are all of one atom.
inline bool is_uniform_block(char32_t first) noexcept {
  const char* const atoms = kUnicodeStage2 + kUnicodeStage1[first / kUnicodeBlock] * kUnicodeBlock;
  return std::memcmp(atoms, atoms + 1, kUnicodeBlock - 1) == 0;
}

}  // namespace wick
