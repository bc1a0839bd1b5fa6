// The difference of two texts, line by line, as `diff -u` shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wick {

// "-line" is in `before` only, "+line" in `behind` only, " line" in both. The difference is
// minimal, unless the texts are too long; then all lines between the first and the last difference
// are shown as changed. A last line without line feed differs from the same line with one.
std::vector<std::string> line_diff(std::string_view before, std::string_view behind);

// The differing lines with three around them on standard output, control characters spelled out;
// nothing if there is no difference.
void print_line_diff(std::string_view before, std::string_view behind);

}  // namespace wick
