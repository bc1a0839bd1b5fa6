// The trash of freedesktop.org's specification: files move there on their own file system, and
// back. One thread.
//
//   WICK_TRY(const Trashed one, trash("notes.txt"));
//   WICK_DO(restore(one));
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/verdict.h"

namespace wick::assist {

struct Trashed {
  std::filesystem::path original = {};  // absolute
  std::filesystem::path file = {};      // where it is now
  std::filesystem::path info = {};
  std::string deleted = {};  // "2026-11-24T11:03:37", local time
};

// Moves a file, link or folder. kUnsupported, id "no_trash": its file system has none and none can
// be made. Mount points and folders that hold the trash are refused.
Result<Trashed> move_to_trash(const std::filesystem::path& path);
// Puts it back; kInvalid, id "name_taken", if something is in its place.
Result<void> restore(const Trashed& one);
// All that is there, newest first.
std::vector<Trashed> list_trash();

// The operands of a plain `rm`, with patterns expanded as the shell would; nothing for any other
// command. A folder without -r is no operand of rm, so there is no value then either.
std::optional<std::vector<std::string>> removed_by(std::string_view text, shell::Dialect dialect,
                                                   const shell::Verdict& verdict,
                                                   const std::string& cwd);

}  // namespace wick::assist
