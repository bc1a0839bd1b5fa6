// Maxima of the byte regex engine. All are checked before memory or time is taken; what exceeds
// them is refused with an Error of code kUnsupported that names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::regex {

inline constexpr std::size_t kMaxPatternBytes = 1U << 20U;
inline constexpr std::size_t kMaxSyntaxNodes = 1U << 16U;  // of one pattern
// Ranges of code points in all its classes together, as written: \p{L} has 660.
inline constexpr std::size_t kMaxSyntaxRanges = 1U << 18U;
inline constexpr int kMaxNesting = 250;                    // groups in groups
inline constexpr std::uint32_t kMaxCount = 1'000'000'000;  // in {m,n}
// Copies of a repeated part that holds an assertion, which counters cannot carry.
inline constexpr std::uint32_t kMaxUnrolled = 64;

// Derivatives recurse through nested and nullable parts this deep.
inline constexpr int kMaxDerivativeDepth = 1'000;
// Bytes of expressions, edges and table rows of one automaton, together; searches take the rest of
// the 32 MiB that an adversarial pattern may cost.
inline constexpr std::size_t kMaxAutomatonBytes = 20U << 20U;
// Steps of one operation (compile, match of one byte, search). A step is one expression looked up
// or one edge merged: 30 to 60 ns (docs/regex.md has the measurement).
inline constexpr std::uint64_t kDefaultFuel = 1'000'000;
// Matching a text may take so many more for each of its bytes.
inline constexpr std::uint64_t kFuelForByte = 16;
// A shortest string above this length is refused; its length is still known.
inline constexpr std::uint32_t kMaxShortestBytes = 1U << 20U;

}  // namespace wick::regex
