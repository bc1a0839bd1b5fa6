// The values of `format` that are regular languages, as patterns.
#pragma once

#include <optional>
#include <string_view>

namespace wick::grammar {

// A pattern (ECMA-262) that matches the whole string; nothing if the format is not known. Unknown
// formats are annotations: regex, idn-hostname and any other name.
std::optional<std::string_view> format_pattern(std::string_view name);

}  // namespace wick::grammar
