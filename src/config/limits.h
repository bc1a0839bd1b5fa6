// Limits of config files, which are untrusted.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxConfigBytes = 64 << 10;  // of a file
// Each level of a dotted key costs a dot, so this bounds how deep a line can nest tables.
inline constexpr std::size_t kMaxConfigLineDots = 64;
inline constexpr int kMaxConfigNesting = 8;             // arrays and inline tables in each other
inline constexpr std::size_t kMaxConfigText = 4096;     // bytes of one text
inline constexpr std::size_t kMaxConfigListItems = 64;  // of one list

inline constexpr std::size_t kMaxPriceFileBytes = 16 << 20;  // LiteLLM's has about 1.5 MB
inline constexpr int kMaxPriceFileContext = 1 << 24;         // tokens

}  // namespace wick
