// What the library has to say beside its results: a device that does not start, so that another one
// computes; a source of a download that fails, so that the next one is tried. Nothing is written
// anywhere unless a program asks for it here. Any thread.
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
  kInfo,     // what was done: a model loaded, a download resumed
  kWarning,  // something does not go as it was meant to, and it went on otherwise
};

// "info", "warning".
WICK_API std::string_view name(LogLevel level) noexcept;

// `message` is one line, control characters escaped, valid during the call. Called on the thread
// that has something to say, by several at once, and never while a lock of the library is held: it
// may call the library, of whose messages meanwhile it is not told on this thread. One thing it may
// not: open the model that is being downloaded, which would wait for this download, and the
// download for the sink. What it throws is dropped.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

// For the whole process, instead of the one before; an empty one: nobody is told any more. A call
// of the one before that another thread has begun may end after this has returned.
WICK_API void set_log(LogSink sink) noexcept;

}  // namespace wick
