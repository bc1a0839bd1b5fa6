// Log messages of the library: a device that does not start, so another one is used; a download
// source that fails, so the next one is tried. Nothing is written anywhere unless a program sets a
// log sink. Any thread.
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

// `message` is one line with control characters escaped, valid during the call. The sink is called
// on the thread that logs, by several threads at once, never while the library holds a lock. The
// sink may call the library; messages logged by these calls are dropped. It must not open a model
// that is being downloaded at this moment: that would deadlock. Exceptions are dropped.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

// Sets the log sink of the process; an empty sink disables logging. When this returns, another
// thread may still be inside the previous sink.
WICK_API void set_log(LogSink sink) noexcept;

}  // namespace wick
