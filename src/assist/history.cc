#include "assist/history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <system_error>

#include "assist/limits.h"
#include "base/strings.h"
#include "chat/json_value.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kPrivate = 0600;

Error history_error(const fs::path& path, std::string_view what) {
  return {.code = ErrorCode::kIo,
          .id = "history_failed",
          .message = cat(printable(path.string()), ": ", what)};
}

std::string system_message(int code) {
  return std::error_code(code, std::generic_category()).message();
}

// Closed with the object.
struct Descriptor {
  int fd = -1;

  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string line_of(const HistoryEntry& entry) {
  Array undo;
  if (std::all_of(entry.undo.begin(), entry.undo.end(), is_kept_whole))
    undo.assign(entry.undo.begin(), entry.undo.end());
  return to_json(json_object({{"time", entry.time},
                              {"ask", masked(entry.sentence)},
                              {"cmd", masked(entry.command)},
                              {"level", entry.level},
                              {"outcome", entry.outcome},
                              {"code", entry.code},
                              {"shell", entry.shell},
                              {"cwd", repair_utf8(entry.cwd)},
                              {"undo", std::move(undo)}}));
}

std::string text_of_key(const Object& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

std::int64_t number_of_key(const Object& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->integer() != nullptr ? *value->integer() : 0;
}

}  // namespace

fs::path history_path() {
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "wick/history.jsonl";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".local/state/wick/history.jsonl";
}

bool is_kept_whole(std::string_view command) {
  return masked(command) == command && printable(command, kMaxUndo).view() == command;
}

Result<void> add_history(const fs::path& path, const HistoryEntry& entry) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const Descriptor file{::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, kPrivate)};
  if (file.fd < 0) return history_error(path, system_message(errno));
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
    return history_error(path, "is no file of yours");
  if ((status.st_mode & 0777) != kPrivate && ::fchmod(file.fd, kPrivate) != 0)
    return history_error(path, system_message(errno));
  const std::string line = line_of(entry) + "\n";
  const ssize_t n = ::write(file.fd, line.data(), line.size());
  if (n < 0) return history_error(path, system_message(errno));
  if (static_cast<std::size_t>(n) != line.size()) return history_error(path, "there is no room");
  return {};
}

Result<std::vector<HistoryEntry>> read_history(const fs::path& path) {
  std::vector<HistoryEntry> entries;
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed) return entries;
  std::ifstream in(path, std::ios::binary);
  if (size > kMaxHistory) in.seekg(static_cast<std::streamoff>(size - kMaxHistory));
  for (std::string line; std::getline(in, line);) {
    const auto value = parse_json(line);
    const Object* const object = value ? value->object() : nullptr;
    if (object == nullptr) continue;
    HistoryEntry entry{.time = number_of_key(*object, "time"),
                       .sentence = text_of_key(*object, "ask"),
                       .command = text_of_key(*object, "cmd"),
                       .level = text_of_key(*object, "level"),
                       .outcome = text_of_key(*object, "outcome"),
                       .code = static_cast<int>(number_of_key(*object, "code")),
                       .shell = text_of_key(*object, "shell"),
                       .cwd = text_of_key(*object, "cwd")};
    const JsonValue* const undo = object->find("undo");
    for (const JsonValue& one :
         undo != nullptr && undo->array() != nullptr ? *undo->array() : Array()) {
      if (one.string() != nullptr) entry.undo.push_back(*one.string());
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace wick::assist
