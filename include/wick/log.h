// Log messages of the library, for example that a device did not start and another is used. Without
// a log sink they are dropped. Any thread.
//
//   wick::set_log([](wick::LogLevel level, std::string_view message) {
//     std::cerr << wick::name(level) << ": " << message << "\n";
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "wick/result.h"

namespace wick {

enum class LogLevel : std::uint8_t {
  kInfo,     // a model was loaded, a download resumed
  kWarning,  // something failed, and wick used an alternative
};

// "info", "warning".
WICK_API std::string_view name(LogLevel level) noexcept;

// `message` is one line with control characters escaped, valid during the call. Several threads may
// call the sink at once, without a lock. The sink may call the library; messages logged by such a
// call are dropped. It must not open a model that is being downloaded: that deadlocks. Exceptions
// of the sink are dropped.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

// Sets the log sink of the process; an empty sink disables logging. When this returns, another
// thread may still be inside the previous sink.
WICK_API void set_log(LogSink sink) noexcept;

}  // namespace wick
