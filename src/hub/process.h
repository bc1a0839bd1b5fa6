// Runs another program and waits for it, without a shell. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace wick {

struct ChildProgram {
  std::vector<std::string> arguments = {};    // the program first, looked up in PATH
  std::vector<std::string> environment = {};  // "NAME=value", beside or in place of our own
  std::filesystem::path error_log = {};       // takes what it says on standard error
};

// Returns its exit status (128 + n after signal n). Standard input and output are /dev/null. The
// program is killed when this process ends, also by kill -9. `tick` is called about ten times a
// second. kNotFound (id "no_such_program") when there is no such program; kCancelled after a stop,
// when it has ended.
Result<int> run_command(const ChildProgram& command, const std::stop_token& stop,
                        const std::function<void()>& tick);

}  // namespace wick
