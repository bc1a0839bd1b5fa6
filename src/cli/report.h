// How the program speaks to people and to programs: errors as a sentence and a hint, or as JSON;
// progress on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

// On stderr "wick: message" and "hint: …"; with `as_json`, {"error":{"code","message","hint"}} on
// stdout.
void report(const Error& error, bool as_json);

// Whether the stream is a terminal that may be coloured (NO_COLOR and TERM=dumb say no).
bool is_terminal(int fd) noexcept;
bool has_colour(int fd) noexcept;

// `text` in a quiet colour where stderr or stdout is a terminal with colours, else as it is.
std::string dim(const std::string& text);

// Model output as a terminal may see it: control characters but line feed and tab are left out, so
// that no escape sequence reaches the terminal. `text` is whole characters.
std::string terminal_safe(std::string_view text);

// One line on stderr that is rewritten as work goes on, with speed and time left; silent where
// stderr is not a terminal, and during the first half second. done() clears it.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void rename(std::string_view what);
  void update(std::uint64_t done, std::uint64_t all);  // bytes; all 0 = unknown
  void done();

 private:
  std::string what_;
  std::int64_t started_ns_ = 0, shown_ns_ = 0;
  std::uint64_t first_done_ = 0;
  bool has_first_ = false, is_shown_ = false, is_terminal_ = false;
};

}  // namespace wick
