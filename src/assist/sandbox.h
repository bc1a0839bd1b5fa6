// A command in namespaces of its own: the file system is read-only, the working directory a copy,
// /tmp empty, no network, no Unix sockets, no processes but its own. What it changed in the copy is
// listed; the copy is gone then. Where the system does not allow this, nothing runs. Linux.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assist/run_shell.h"
#include "base/result.h"

namespace wick::assist {

struct SandboxChange {
  enum class Kind : std::uint8_t { kAdded, kRemoved, kChanged } kind = Kind::kChanged;
  std::string path = {};  // below the working directory
};

struct SandboxReport {
  int status = 0;                           // exit status, 128 + n after signal n
  bool is_late = false;                     // killed at the time limit
  bool is_partial = false;                  // more changes or output than are listed
  std::string output = {};                  // standard output and error
  std::vector<SandboxChange> changes = {};  // by path
};

// kUnsupported, id "no_sandbox", with the reason.
Result<SandboxReport> run_in_sandbox(const ShellRun& run, const std::filesystem::path& cwd);
// Whether the system allows it: "" or the reason why not.
std::string sandbox_problem();

}  // namespace wick::assist
