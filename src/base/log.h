// Sends a message to the sink of set_log(), if there is one. Any thread, without holding a lock;
// not on the hot path.
//
//   log_message(LogLevel::kWarning, cat("the device '", printable(name), "' does not start"));
#pragma once

#include <string_view>

#include "wick/log.h"

namespace wick {

void log_message(LogLevel level, std::string_view message) noexcept;

}  // namespace wick
