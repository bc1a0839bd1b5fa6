// Limits of what is kept of an answer that may become a tool call. Beyond one it is text.
#pragma once

#include <cstddef>

namespace wick {

// Bytes before the arguments: of a JSON call, and of a call that begins with its name.
inline constexpr std::size_t kMaxJsonHeader = std::size_t{64} << 10;
inline constexpr std::size_t kMaxNamedHeader = 4096;
inline constexpr std::size_t kMaxHarmonyHeader = 1024;  // of a message of Harmony
inline constexpr std::size_t kMaxCalledName = 1024;     // of a tool's or parameter's name
inline constexpr std::size_t kMaxLiteralWord = 400;     // of a number or name in Python's syntax
inline constexpr std::size_t kMaxLiteralDepth = 64;     // values in values

}  // namespace wick
