// Trees of fish to text; print() of shell/parse.h calls it.
#pragma once

#include <string>
#include <vector>

#include "shell/syntax.h"

namespace wick::shell {

std::string print_fish(const List<Node>& nodes);
std::string print_fish(const Node& node);
std::string print_fish(const Word& word);

}  // namespace wick::shell
