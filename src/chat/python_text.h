// How Python writes numbers and strings: repr of floats and strings, JSON's quoting. Pure
// functions, any thread.
#pragma once

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

// repr(str): single quotes unless the text has some and no double ones; what does not print is
// escaped as \n, \xXX, \uXXXX or \UXXXXXXXX.
void append_python_repr(std::string& out, std::string_view text);

// What both write between the quotes, for a text or a part of one that ends between characters.
// String is std::string or that of a render (chat/memory.h).
template <class String>
void append_json_escaped(String& out, std::string_view text, bool ascii_only);
template <class String>
void append_repr_escaped(String& out, std::string_view text, char quote);

// The quote that repr(str) takes.
char repr_quote(std::string_view text) noexcept;

}  // namespace wick
