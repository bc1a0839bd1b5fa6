// What is true of this machine for a prompt: shell, tools, directory. Found without starting a
// process. probe() reads the file system; any thread.
//
//   const Machine here = probe(process_sources());
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/verdict.h"

namespace wick::assist {

enum class ToolFamily : std::uint8_t { kGnu, kBsd, kBusyBox };
std::string_view name(ToolFamily family) noexcept;  // "GNU", "BSD", "BusyBox"

struct Machine {
  std::string shell = {};       // "bash": its name
  std::string shell_path = {};  // the program that runs a command; empty: not found
  shell::Dialect dialect = shell::Dialect::kPosix;
  bool is_shell_known = true;  // false: a shell that has no dialect here
  std::string system = {};     // "Linux", as uname says
  ToolFamily family = ToolFamily::kGnu;
  std::vector<std::string> tools = {};  // of a fixed list, those on PATH
  std::string cwd = {}, home = {};
  std::string git_branch = {};          // empty: no repository, or no branch
  std::vector<std::string> names = {};  // of the cwd, sorted, folders end in a slash; no dot files
  bool has_more_names = false;
  bool is_root = false;
};

// What probe() starts from; a test sets it.
struct MachineSources {
  std::string cwd = {}, home = {}, path = {};
  std::string parent_program = {};  // of the process that called
  std::string shell_variable = {};  // $SHELL: the login shell, if the parent is none
  std::string asked_shell = {};     // a name or a path that the user gave; "" or "auto": none
};

MachineSources process_sources();
Machine probe(const MachineSources& sources);

// The first executable file of the name on a PATH; "" if there is none.
std::string find_on_path(std::string_view name, std::string_view path);

// What the verdict takes for granted on this machine.
shell::Profile profile_of(const Machine& machine);

}  // namespace wick::assist
