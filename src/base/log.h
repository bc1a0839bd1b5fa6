// What is told to whoever set_log() named, and to nobody else. Any thread, outside of every lock;
// load time only.
//
//   log_message(LogLevel::kWarning, cat("the device '", printable(name), "' does not start"));
#pragma once

#include <string_view>

#include "wick/log.h"

namespace wick {

void log_message(LogLevel level, std::string_view message) noexcept;

}  // namespace wick
