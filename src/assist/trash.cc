#include "assist/trash.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "base/strings.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxNumbered = 10'000;  // files of one name in the trash
constexpr std::size_t kMaxOperands = 10'000;

Error trash_error(const fs::path& path, std::string_view what, std::string id = "trash_failed") {
  return {.code = id == "no_trash" ? ErrorCode::kUnsupported : ErrorCode::kInvalid,
          .id = std::move(id),
          .message = cat(printable(path.string()), ": ", what)};
}

std::string why(int code) {
  return std::error_code(code, std::generic_category()).message();
}

std::optional<dev_t> device_of(const fs::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

fs::path home_trash() {
  if (const char* const data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return fs::path(data) / "Trash";
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home != '/' ? fs::path() : fs::path(home) / ".local/share/Trash";
}

// The folder at which the file system of `path` is mounted.
fs::path top_of(fs::path path) {
  const auto device = device_of(path);
  while (path.has_parent_path() && path != path.parent_path() &&
         device_of(path.parent_path()) == device)
    path = path.parent_path();
  return path;
}

bool make_private(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat status = {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

bool is_made(const fs::path& trash) {
  return make_private(trash) && make_private(trash / "files") && make_private(trash / "info");
}

// A trash on the file system of the folder.
fs::path trash_for(const fs::path& folder) {
  const fs::path home = home_trash();
  if (!home.empty()) {
    std::error_code ignored;
    fs::create_directories(home.parent_path(), ignored);
    if (is_made(home) && device_of(home) == device_of(folder)) return home;
  }
  const fs::path top = top_of(folder);
  const std::string user = std::to_string(::geteuid());
  struct stat shared = {};
  const fs::path common = top / ".Trash";
  // The specification: used only with the sticky bit, and if it is no link.
  if (::lstat(common.c_str(), &shared) == 0 && S_ISDIR(shared.st_mode) &&
      (shared.st_mode & S_ISVTX) != 0 && is_made(common / user))
    return common / user;
  const fs::path own = top / (".Trash-" + user);
  return is_made(own) ? own : fs::path();
}

// Bytes of a path as the specification writes them (RFC 2396).
std::string percent(std::string_view path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("/-_.~").find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else {
      out += cat('%', kDigits[byte >> 4U], kDigits[byte & 15U]);
    }
  }
  return out;
}

std::string from_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out +=
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::localtime_r(&now, &parts);
  char text[32] = {};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts)};
}

bool write_info(int fd, const std::string& text) {
  const bool is_whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && is_whole;
}

void list_folder(const fs::path& trash, const fs::path& top, std::vector<Trashed>& out) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(trash / "info", failed)) {
    if (entry.path().extension() != ".trashinfo") continue;
    Trashed one{.file = trash / "files" / entry.path().stem(), .info = entry.path()};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      constexpr std::string_view kPath = "Path=", kDate = "DeletionDate=";
      if (line.starts_with(kPath)) one.original = from_percent(line.substr(kPath.size()));
      if (line.starts_with(kDate)) one.deleted = line.substr(kDate.size());
    }
    if (one.original.is_relative()) one.original = top / one.original;
    if (device_of(one.file)) out.push_back(std::move(one));
  }
}

// The file itself, in a folder without links: `l/../a` is behind the link l. Empty if it is not
// there.
fs::path place_of(const fs::path& path) {
  std::error_code failed;
  fs::path whole = fs::absolute(path, failed);
  while (!whole.has_filename() && whole.has_relative_path())  // a slash at the end
    whole = whole.parent_path();
  const fs::path folder = fs::canonical(whole.parent_path(), failed);
  if (failed || !device_of(whole)) return {};
  return folder / whole.filename();
}

}  // namespace

Result<Trashed> move_to_trash(const fs::path& path) {
  const fs::path whole = place_of(path);
  if (whole.empty()) return trash_error(path, "there is no such file");
  const fs::path folder = whole.parent_path();
  const std::string own_name = whole.filename().string();
  if (own_name.empty() || own_name == "." || own_name == ".." ||
      device_of(whole) != device_of(folder))
    return trash_error(path, "is no file that can be moved to the trash");
  const fs::path trash = trash_for(folder);
  if (trash.empty())
    return trash_error(path, "its file system has no trash, and none can be made", "no_trash");
  if ((trash / "x").string().starts_with(whole.string() + "/"))
    return trash_error(path, "holds the trash");
  Trashed out{.original = whole, .deleted = local_time()};
  for (int n = 1; n < kMaxNumbered; ++n) {
    const std::string name = cat(own_name, n == 1 ? "" : cat(".", n));
    out.info = trash / "info" / (name + ".trashinfo");
    out.file = trash / "files" / name;
    const int fd =
        ::open(out.info.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return trash_error(out.info, why(errno));
    const bool is_written = write_info(fd, cat("[Trash Info]\nPath=", percent(whole.string()),
                                               "\nDeletionDate=", out.deleted, "\n"));
    if (is_written &&
        ::renameat2(AT_FDCWD, whole.c_str(), AT_FDCWD, out.file.c_str(), RENAME_NOREPLACE) == 0)
      return out;
    const int code = errno;
    ::unlink(out.info.c_str());
    if (is_written && code == EEXIST) continue;  // a file without its info
    return trash_error(path, is_written ? why(code) : "there is no room for its entry");
  }
  return trash_error(path, "too many files of this name are in the trash");
}

Result<void> restore(const Trashed& one) {
  std::error_code ignored;
  fs::create_directories(one.original.parent_path(), ignored);
  if (::renameat2(AT_FDCWD, one.file.c_str(), AT_FDCWD, one.original.c_str(), RENAME_NOREPLACE) !=
      0) {
    const int code = errno;
    return trash_error(one.original, code == EEXIST ? "is there already" : why(code),
                       code == EEXIST ? "name_taken" : "trash_failed");
  }
  ::unlink(one.info.c_str());
  return {};
}

namespace {

// A name of /proc/self/mounts: blanks, line ends and backslashes are written \040, \012, \134.
std::string mount_name(std::string_view text) {
  const auto digit = [&](std::size_t i) { return i < text.size() ? text[i] - '0' : -1; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int a = digit(i + 1), b = digit(i + 2), c = digit(i + 3);
    const bool is_octal = a >= 0 && a < 4 && b >= 0 && b < 8 && c >= 0 && c < 8;
    if (text[i] == '\\' && is_octal) {
      out += static_cast<char>(a * 64 + b * 8 + c);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::vector<Trashed> list_trash() {
  std::vector<Trashed> all;
  std::vector<fs::path> seen;
  const auto add = [&](const fs::path& trash, const fs::path& top) {
    std::error_code failed;
    const fs::path real = fs::canonical(trash, failed);
    if (failed || std::find(seen.begin(), seen.end(), real) != seen.end()) return;
    seen.push_back(real);
    list_folder(trash, top, all);
  };
  add(home_trash(), "/");
  const std::string user = std::to_string(::geteuid());
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t begin = line.find(' ') + 1;
    const fs::path top =
        mount_name(std::string_view(line).substr(begin, line.find(' ', begin) - begin));
    add(top / ".Trash" / user, top);
    add(top / (".Trash-" + user), top);
  }
  std::sort(all.begin(), all.end(), [](const Trashed& a, const Trashed& b) {
    return a.deleted != b.deleted ? a.deleted > b.deleted : a.file < b.file;
  });
  return all;
}

namespace {

// A word of rm as a pattern for glob(3): what was quoted has backslashes. Nothing if the word has
// an expansion.
std::optional<std::string> pattern_of(const shell::Word& word) {
  std::string out;
  const auto add_quoted = [&](std::string_view text) {
    for (const char c : text)
      out += std::string_view("*?[]\\").find(c) != std::string_view::npos ? cat('\\', c)
                                                                          : std::string(1, c);
  };
  for (const shell::WordPart& part : word.parts) {
    using enum shell::PartKind;
    if (part.kind == kLiteral) {
      if (part.text.find_first_of("{}~") != std::string::npos) return std::nullopt;
      out += part.text;
    } else if (part.kind == kEscape || part.kind == kSingle) {
      add_quoted(part.text);
    } else if (part.kind == kDouble) {
      for (const shell::WordPart& inner : part.parts) {
        if (inner.kind != kLiteral && inner.kind != kEscape) return std::nullopt;
        add_quoted(inner.text);
      }
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool is_pattern(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (std::string_view("*?[").find(text[i]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::string without_backslashes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

bool expand_pattern(const std::string& pattern, std::vector<std::string>& out) {
  glob_t found = {};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &found);
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i)
    out.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return code == 0 && out.size() <= kMaxOperands;
}

}  // namespace

std::optional<std::vector<std::string>> removed_by(std::string_view text, shell::Dialect dialect,
                                                   const shell::Verdict& verdict,
                                                   const std::string& cwd) {
  const shell::Parsed parsed = shell::parse(text, dialect, shell::Mode::kScript);
  const auto* const script = std::get_if<shell::Script>(&parsed);
  if (script == nullptr || script->body.size() != 1 || verdict.calls.size() != 1 ||
      verdict.level == shell::Level::kCritical)
    return std::nullopt;
  const shell::Node& node = script->body.front();
  const bool is_rm = node.kind == shell::NodeKind::kSimple && node.redirects.empty() &&
                     node.assignments.empty() && !node.is_background && !node.words.empty() &&
                     verdict.calls.front().argv.front() == "rm";
  if (!is_rm) return std::nullopt;
  std::string place;  // of relative patterns; the cwd itself is none
  for (const char c : cwd)
    place += cat(std::string_view("*?[]\\").find(c) != std::string_view::npos ? "\\" : "",
                 std::string_view(&c, 1));
  std::vector<std::string> names;
  bool is_over = false, takes_folders = false;
  for (std::size_t i = 1; i < node.words.size(); ++i) {
    const auto pattern = pattern_of(node.words[i]);
    if (!pattern) return std::nullopt;
    const std::string word = without_backslashes(*pattern);
    if (!is_over && word == "--") {
      is_over = true;
    } else if (!is_over && word.size() > 1 && word.starts_with('-')) {
      if (word.find_first_not_of("-rRfvi") != std::string::npos && word != "--recursive" &&
          word != "--force")
        return std::nullopt;
      takes_folders = takes_folders || word.find_first_of("rR") != std::string::npos;
    } else if (!is_pattern(*pattern)) {
      names.push_back(word.starts_with('/') ? word : cat(cwd, "/", word));
    } else if (!expand_pattern(pattern->starts_with('/') ? *pattern : cat(place, "/", *pattern),
                               names)) {
      return std::nullopt;
    }
  }
  std::vector<std::string> out;
  std::set<fs::path> places;
  for (const std::string& name : names) {
    std::error_code failed;
    const bool is_folder = fs::is_directory(fs::symlink_status(name, failed));
    if (failed || !fs::exists(fs::symlink_status(name, failed)) || (is_folder && !takes_folders))
      return std::nullopt;
    // Named twice, or in a folder that was named before: gone already, and rm -f says nothing.
    fs::path own = place_of(name);
    bool is_gone = false;
    for (fs::path at = own; at.has_relative_path(); at = at.parent_path())
      is_gone = is_gone || places.contains(at);
    // Through a link or `..`, what one operand takes may be in the way of another.
    fs::path plain = fs::path(name).lexically_normal();
    if (!plain.has_filename()) plain = plain.parent_path();
    if (names.size() > 1 && (own != plain || name.find("/..") != std::string::npos))
      return std::nullopt;
    if (!is_gone) out.push_back(name);
    places.insert(std::move(own));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace wick::assist
