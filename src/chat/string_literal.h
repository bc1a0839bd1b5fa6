// What stands in a template's literals. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wick::jinja {

// Appends the value of a string literal to `out`, its escapes resolved as Python's. The answer is
// what is wrong with it, nullopt if nothing.
std::optional<std::string> unescape(std::string_view literal, std::string& out);

// A Python float literal or float(text) without blanks: decimal, "inf", "nan"; the nearest double.
double parse_double(std::string_view digits);

}  // namespace wick::jinja
