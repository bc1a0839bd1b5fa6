// How Python writes numbers and strings: repr of floats and strings, JSON's quoting. Pure
// functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wick {

// repr(float): the shortest digits that read back the same, "1e-05" below 1e-4, "1e+16" from 1e16
// on, else with a point: "3.0". "inf", "-inf", "nan".
std::string python_float(double value);

// The same as JSON writes it: "Infinity", "-Infinity", "NaN".
std::string json_float(double value);

// `text` in double quotes with \" \\ \n \r \t \b \f and \u00XX for other control characters; with
// `ascii_only` everything above U+007E is \uXXXX, in surrogate pairs where needed.
void append_json_string(std::string& out, std::string_view text, bool ascii_only = false);

// repr(str): single quotes, unless the text has single and no double quotes; characters that are
// not printable become \n, \xXX, \uXXXX or \UXXXXXXXX.
void append_python_repr(std::string& out, std::string_view text);

// The text that both write between the quotes. `text` ends on a whole character. String is
// std::string or that of a render (chat/memory.h).
template <class String>
void append_json_escaped(String& out, std::string_view text, bool ascii_only);
template <class String>
void append_repr_escaped(String& out, std::string_view text, char quote);

// \xXX, \uXXXX or \UXXXXXXXX.
template <class String>
void append_escape(String& out, char32_t code);

// The quote that repr(str) takes.
char repr_quote(std::string_view text) noexcept;

}  // namespace wick

namespace wick::jinja {

// Appends the value of a string literal to `out`, with Python's escapes resolved. Returns the
// message of a syntax error, nullopt if there is none.
std::optional<std::string> unescape(std::string_view literal, std::string& out);

// A Python float literal or float(text) without blanks: decimal, "inf", "nan"; the nearest double.
double parse_double(std::string_view digits);

}  // namespace wick::jinja
