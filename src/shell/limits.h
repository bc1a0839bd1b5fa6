// Limits of this module. A command beyond a limit is not analyzed: its verdict is `high: too
// complex`.
#pragma once

#include <cstddef>

namespace wick::shell {

inline constexpr std::size_t kMaxSource = std::size_t{64} << 10;  // bytes of a command or script
inline constexpr int kMaxDepth = 64;      // nesting of commands, substitutions and quotes
inline constexpr int kMaxNodes = 50'000;  // commands, words and parts of words of one script
inline constexpr int kMaxNested = 16;     // sh -c, eval, substitution, function within another
inline constexpr int kMaxInvoked = 64;    // wrappers and calls of functions, one behind another
inline constexpr int kMaxSteps = 10'000;  // simple commands evaluated for one verdict
inline constexpr std::size_t kMaxWords = 1U << 15U;  // of all these commands together
inline constexpr std::size_t kMaxSet = 16;           // strings that a value may hold exactly
inline constexpr std::size_t kMaxFields = 256;       // words that braces may make of one word
inline constexpr std::size_t kMaxText = kMaxSource;  // bytes of a value that is known exactly
inline constexpr std::size_t kMaxBuilt = std::size_t{4}
                                         << 20;       // bytes of all values of one verdict
inline constexpr std::size_t kMaxJoined = 1U << 17U;  // variables, in each subshell and branch anew
inline constexpr std::size_t kMaxEffects = 256;       // effects kept; equal ones count once
inline constexpr std::size_t kMaxCalls = 1024;        // calls kept for rules; the next is not known
inline constexpr std::size_t kMaxPooled = 1024;       // bytes of a freed block that is kept …
inline constexpr std::size_t kMaxPooledBlocks = 256;  // … and how many of a size, in each thread
inline constexpr std::size_t kMaxRead = 1024;         // symbolic files written by a command
inline constexpr std::size_t kMaxLinks = 64;          // made by a command
inline constexpr int kMaxFollowed = 256;              // paths through them

}  // namespace wick::shell
