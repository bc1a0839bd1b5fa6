// Errors as a sentence and a hint, or as JSON; progress on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"
#include "chat/json_value.h"

namespace wick {

// On stderr "wick: message" and "hint: …"; with `as_json`, {"error":{"code","message","hint"}} on
// stdout.
void report(const Error& error, bool as_json);
// JSON on standard output, one object a line. Bytes that are not UTF-8 come out as U+FFFD: a line
// is always JSON. Characters that a terminal would obey or not show come out as \u escapes.
void print_json(const JsonValue& value);
JsonValue to_value(const Error& error);  // {"code","message","hint"}

// One line on stderr that is rewritten as work goes on, with speed and time left; silent where
// stderr is not a terminal, and during the first half second. done() clears it.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void rename(std::string_view what);
  void update(std::uint64_t done, std::uint64_t all);  // bytes; all 0 = unknown
  void done();

 private:
  Printable what_;
  std::int64_t started_ns_ = 0, shown_ns_ = 0;
  std::uint64_t first_done_ = 0;
  bool has_first_ = false, is_shown_ = false, is_terminal_ = false;
};

// A line on stderr while something is under way, if that is a terminal; gone with the object.
class Working {
 public:
  explicit Working(const Printable& what);
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
};

}  // namespace wick
