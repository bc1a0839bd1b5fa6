// The difference of two texts, line by line, as `diff -u` shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wick {

// "-line" stands in `before` alone, "+line" in `behind` alone, " line" in both; each line once, in
// order, as few of the first two as there can be (where the texts are too long for that, all of the
// part that differs). A last line without its line feed is not one that has it.
std::vector<std::string> line_diff(std::string_view before, std::string_view behind);

// The differing lines with three around them on standard output, control characters spelled out;
// nothing if there is no difference.
void print_line_diff(std::string_view before, std::string_view behind);

}  // namespace wick
