// Settings by name, as a conversation at the terminal changes them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wick/generation.h"

namespace wick {

// "temperature" "0.2"; "seed"; "max_tokens": a number of the table generation, checked as the
// flag is (config/switches.h).
Result<void> set_parameter(Generation& generation, std::string_view key, std::string_view value);

}  // namespace wick
