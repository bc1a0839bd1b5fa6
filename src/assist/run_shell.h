// Runs a command by the user's shell with -c, without rc files, in a process group of its own. One
// at a time in a process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/syntax.h"

namespace wick::assist {

struct ShellRun {
  std::string shell = {}, shell_path = {};
  shell::Dialect dialect = shell::Dialect::kBash;
  std::string command = {};  // these bytes, unchanged
  int terminal = -1;         // is handed over to the command; -1: there is none
};

// The shell's arguments. kInvalid, id "not_runnable": the text has a NUL, or the shell would read
// it as options.
Result<std::vector<std::string>> shell_arguments(const ShellRun& run);
// The environment without what changes how a shell starts or reads a command: BASH_ENV, ENV,
// functions of bash, CDPATH and the like.
std::vector<std::string> shell_environment();

// Its exit status, 128 + n after signal n. A stop by Ctrl-Z stops this process, too, and both go on
// together; SIGTERM and SIGHUP are passed on.
Result<int> run_shell(const ShellRun& run);

}  // namespace wick::assist
