// A verdict about a shell command as JSON and as lines.
#pragma once

#include <string>

#include "chat/json_value.h"
#include "shell/verdict.h"

namespace wick {

// {"level","effects":[{"kind","scope","target","span","why"}],"suggestion","error"?}
Object to_object(const shell::Verdict& verdict);

// Whether the command has several lines.
bool has_lines(const std::string& command);

// A line for each effect, with marks below its place in the command, which stands above (of
// several lines, the one with the effect is printed); `is_long`: safe ones, too. Then the safer
// form, if one is known.
void print_effects(const std::string& command, const shell::Verdict& verdict, bool is_long);

}  // namespace wick
