// Decodes the characters of a JSON string byte by byte: plain characters, short escapes (\n),
// \u00e9, surrogate pairs. A Spelling is a position in a string; feed() advances it by one byte and
// returns the decoded part. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace wick::grammar {

struct Spelling {
  enum class Where : std::uint8_t {
    kInside,   // between characters, or within the UTF-8 of one
    kEscape,   // behind a backslash
    kHex,      // behind \u and `n_digits` digits, whose value is `value`
    kPair,     // behind the first half of a pair, which is `value`: a backslash must come
    kPairU,    // behind that backslash
    kPairHex,  // behind \uXXXX\u and `n_digits` digits; `value` is both, 16 bits each
  };

  Where where = Where::kInside;
  std::uint8_t n_digits = 0;
  std::uint32_t value = 0;
  friend bool operator==(const Spelling&, const Spelling&) = default;
};

struct Spelled {
  enum class Kind : std::uint8_t {
    kWrong,      // no string continues so
    kEnd,        // the closing quote
    kByte,       // the byte stands for itself
    kCharacter,  // an escape is whole: the character `first`
    kStarted,    // an escape goes on, if a character from `first` to `last` may come
    kMore,       // an escape goes on
  };

  Kind kind = Kind::kWrong;
  std::uint32_t first = 0, last = 0;
  bool with_pairs = false;  // kStarted: also the characters whose first half is in the range
};

Spelled feed(Spelling& place, unsigned char byte) noexcept;

// The UTF-8 bytes that `byte` completed in feed(); empty inside an escape.
std::string bytes_of(const Spelled& spelled, unsigned char byte);

// `first` to `last`: the characters whose high surrogate is in the range of `started`. False if
// there are none.
bool paired_characters(const Spelled& started, char32_t& first, char32_t& last) noexcept;

}  // namespace wick::grammar
