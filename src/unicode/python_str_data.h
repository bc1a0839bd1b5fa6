// Tables of the character properties that Python 3.11 knows (Unicode 14), sorted by first
// character; tools/goldens/unicode_python_str.py writes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::unicode_data {

template <class Row>
struct Table {
  const Row* rows;
  std::size_t size;
};

struct Range {
  std::uint32_t first, last;
};

struct Run {  // first, first + step, …, last each map to themselves + delta
  std::uint32_t first, last, step;
  std::int32_t delta;
};

struct Special {  // maps to up to three characters, 0 ends
  std::uint32_t first;
  std::uint32_t to[3];
};

extern const Table<Range> kAlpha, kDecimal, kDigit, kNumeric, kLower, kUpper, kTitle, kPrintable;
extern const Table<Range> kIdentifierStart, kIdentifierPart, kCaseIgnorable;
extern const Table<Run> kToUpper, kToLower, kToTitle, kToFold;
extern const Table<Special> kToUpperSpecial, kToLowerSpecial, kToTitleSpecial, kToFoldSpecial;

}  // namespace wick::unicode_data
