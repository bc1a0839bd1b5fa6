// Limits of the regex engine, checked before memory or time is used. Exceeding one is an Error of
// code kUnsupported that names the limit.
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
// Most copies of a repeated part that contains an assertion; such a part cannot have a counter.
inline constexpr std::uint32_t kMaxUnrolled = 64;

// Derivatives recurse through nested and nullable parts this deep.
inline constexpr int kMaxDerivativeDepth = 1'000;
// Bytes of all expressions, edges and table rows of one automaton. An adversarial pattern may take
// 32 MiB; the rest is for searches.
inline constexpr std::size_t kMaxAutomatonBytes = 20U << 20U;
// Steps of one operation (compile, match of one byte, search). A step is one expression looked up
// or one edge merged: 30 to 60 ns (docs/regex.md has the measurement).
inline constexpr std::uint64_t kDefaultFuel = 1'000'000;
// More steps for each byte of a matched text.
inline constexpr std::uint64_t kFuelForByte = 16;
// A shortest string above this length is refused; its length is still known.
inline constexpr std::uint32_t kMaxShortestBytes = 1U << 20U;

// Limits of a DFA (dfa.h). Real pre-tokenizer patterns have about 100 NFA nodes and 30 states.
// jais-2, which counts to 512 blanks, has 1,100 nodes and 530 states.
inline constexpr std::size_t kMaxNfaNodes = 4096;
inline constexpr std::size_t kMaxDfaStates = 2048;
inline constexpr std::size_t kMaxDfaWork = 1U << 22U;  // steps of building; real patterns: 20,000
inline constexpr std::size_t kMaxLongLooks = 3;        // lookaheads of more than one character

}  // namespace wick::regex
