// Commands that take a command back, where that is provable from what is there before it runs.
// Reads the file system; any thread.
//
//   mv a b  (b is not there)   →  mv -n -- b a
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/verdict.h"

namespace wick::assist {

struct UndoPlan {
  bool is_known = false;  // false: no undo, or none that the history can keep whole
  std::vector<std::string> commands = {};  // in order; none if the command changes nothing
};

// `text` is about to run in `cwd`; `verdict` is that about it.
UndoPlan plan_undo(std::string_view text, shell::Dialect dialect, const shell::Verdict& verdict,
                   const std::string& cwd);

}  // namespace wick::assist
