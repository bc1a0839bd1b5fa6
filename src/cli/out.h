// Standard output and standard error of the program. No other file writes to them (tools/tidy.py),
// which guarantees two things:
//
//   - Foreign text is escaped. print() and note() take literals, numbers and Printables
//     (base/printable.h); a std::string does not compile.
//   - A failed write is an error. If standard output is closed the program ends as by SIGPIPE; any
//     other failure is remembered, later output is dropped, and end_output() reports it.
//
//   print({padded(printable(name), 20), human(bytes), "\n"});
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"

namespace wick {

// One part of what is printed. It borrows: write it into the call.
class Shown {
 public:
  template <std::size_t N>
  consteval Shown(const char (&literal)[N])  // implicit
      : data_(literal), size_(N - 1) {}

  Shown(const Printable& text)  // implicit
      : data_(text.view().data()), size_(text.size()) {}

  template <std::integral T>

  requires(!std::same_as<T, bool> && !std::same_as<T, char>) Shown(T number) {  // implicit
    char* const begin = digits_.data();
    size_ =
        static_cast<std::size_t>(std::to_chars(begin, begin + digits_.size(), number).ptr - begin);
  }

  std::string_view view() const noexcept {
    return {data_ != nullptr ? data_ : digits_.data(), size_};
  }

 private:
  const char* data_ = nullptr;  // nullptr: digits_
  std::size_t size_ = 0;
  std::array<char, 24> digits_ = {};
};

void print(std::initializer_list<Shown> parts);  // standard output
void note(std::initializer_list<Shown> parts);   // standard error, after what was printed before
using PrintFunction = void (*)(std::initializer_list<Shown> parts);

// Model output: unchanged to a pipe or file, as printable_answer() to a terminal. Complete
// characters.
void print_answer(std::string_view text);
// A text that is the command's result (a prompt): unchanged to a pipe or a file, as
// printable_lines() to a terminal.
void print_text(std::string_view text);

void flush_output();  // print() gathers; a terminal and a question to a person want it now
bool output_has_failed() noexcept;
Result<void> end_output();  // flushes; kIo, id "output_failed", if anything could not be written

// Opens the descriptors 0 to 2 if they are closed; otherwise a file that is opened later could get
// their number and be written to. Writing to a standard output that was closed still fails.
void set_up_output() noexcept;

// Common parts of output. Widths count characters.
Printable joined(std::initializer_list<Shown> parts);
Printable fixed(double value, int decimals);
Printable human(std::uint64_t bytes);                               // "98.4 MB"
Printable padded(const Printable& text, std::size_t width);         // blanks behind, at least one
Printable right_aligned(const Printable& text, std::size_t width);  // blanks before

bool is_terminal(int fd) noexcept;
// Whether the stream is a terminal with color (not with NO_COLOR or TERM=dumb).
bool has_color(int fd) noexcept;

enum class Color : std::uint8_t { kNone, kDim, kRed, kGreen, kYellow, kCyan };
// The escape sequence of the color; empty if has_color(fd) is false. kNone ends a color.
Shown color(int fd, Color color) noexcept;

}  // namespace wick
