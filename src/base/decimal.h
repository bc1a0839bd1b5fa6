// Numbers as people write them. Pure function, any thread.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace wick {

// "0.1" of 0.1: rounded to `digits` behind the point, at most 9, without zeros at the end. `value`
// is finite and below 10^18.
inline std::string decimal(double value, int digits) {
  std::array<char, 32> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, digits);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  if (text.find('.') == std::string_view::npos) return std::string(text);
  text = text.substr(0, text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace wick
