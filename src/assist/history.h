// What was asked, proposed and done: one JSON object a line in a file that only the user reads.
// Secrets of known shapes are masked, piped input is not stored. Any thread, any process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick::assist {

struct HistoryEntry {
  std::int64_t time = 0;  // seconds since 1970
  std::string sentence = {}, command = {}, level = {};
  std::string outcome = {};  // "ran", "declined", "refused", "copied", "printed", "trashed"
  int code = 0;              // of "ran"
  std::string shell = {}, cwd = {};
  std::vector<std::string> undo = {};  // commands that take it back, in order
};

// $XDG_STATE_HOME/wick/history.jsonl, else below ~/.local/state. Empty: there is no home.
std::filesystem::path history_path();

// Whether the history gives these bytes back: nothing in them is masked, escaped or cut. A changed
// undo command is another one: in `rm -- /tmp/***` the mask is a pattern for every file.
bool is_kept_whole(std::string_view command);

// Appends one line by one write. The file is made with mode 0600, and gets it if it has another;
// a link, and a file of another user, is refused. `undo` is stored whole or not at all.
Result<void> add_history(const std::filesystem::path& path, const HistoryEntry& entry);
// Oldest first; lines that are no entries are left out. A file that is not there is empty.
Result<std::vector<HistoryEntry>> read_history(const std::filesystem::path& path);

// `text` with *** for passwords, tokens and keys: by their shape, or by the name before them.
std::string masked(std::string_view text);

}  // namespace wick::assist
