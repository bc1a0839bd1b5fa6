// Durations as in Ollama's keep_alive: "5m", seconds as a number, -1 for ever.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace wick::server {

// "5m", "1h30m", "90s", "1500ms", or a number of seconds; below 0: for ever, as -1. In
// milliseconds.
Result<std::int64_t> parse_keep_alive(std::string_view text);
// The same of a number of seconds.
std::int64_t keep_alive_ms(double seconds) noexcept;

}  // namespace wick::server
