// Limits of a request's sampling settings.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxLogitBiases = 4096;
inline constexpr float kMaxLogitBias = 1e6F;             // and -infinity
inline constexpr std::size_t kMaxDryBreakers = 64;       // runs of tokens
inline constexpr std::size_t kMaxDryBreakerTokens = 20;  // of one run

}  // namespace wick
