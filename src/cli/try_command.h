// wick ask --sandbox: a command in a copy of the working directory, and what it changed there.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ask.h"

namespace wick {

// kUnsupported, id "no_sandbox": it cannot be tried here, and was not.
Result<void> try_command(const AskSetup& setup, const std::string& command,
                         const shell::Verdict& verdict);

}  // namespace wick
