// Small string tools for messages; nothing here belongs on the hot path.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace wick {

namespace internal {
inline void append(std::string& out, std::string_view part) {
  out += part;
}

inline void append(std::string& out, const Printable& part) {
  out += part.view();
}

inline void append(std::string& out, char part) {
  out += part;
}

template <std::same_as<bool> T>  // a template, so that a string literal does not decay into a truth
                                 // value
void append(std::string& out, T part) {
  out += part ? "true" : "false";
}

template <std::integral T>

requires(!std::same_as<T, bool>) void append(std::string& out, T part) {
  out += std::to_string(part);
}

void append(std::string& out, double part);  // shortest form that reads back as the same number
}  // namespace internal

// cat("tensor '", name, "' has ", n, " rows"): the parts as one string.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (internal::append(out, parts), ...);
  return out;
}

// 0.95F as 0.95, not as 0.949999988079071: the double next to how `value` is written.
double as_written(float value);

// "98.4 MB", "1.2 GB": decimal units, as file managers and hubs print them.
std::string human_bytes(std::uint64_t bytes);

// A to Z as a to z; all other bytes stay.
std::string ascii_lower(std::string_view text);

// Length of the longest prefix of `text` that does not end in an incomplete UTF-8 character. Bytes
// that can never become a character count as complete, so they are not held back forever.
std::size_t complete_utf8(std::string_view text) noexcept;

// `code` is a character, not a surrogate.
void append_utf8(std::string& out, char32_t code);

// `text` with each maximal invalid part replaced by U+FFFD.
std::string repair_utf8(std::string_view text);

}  // namespace wick
