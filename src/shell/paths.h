// Paths as a verdict sees them: normal forms without looking at a file system, and what kind of
// place a path is. Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "shell/verdict.h"

namespace wick::shell {

// `path` made absolute by `cwd` (left relative if cwd is empty), without `//`, `.` and `..`.
// "" becomes the cwd.
std::string normal_path(std::string_view path, std::string_view cwd);

// Whether `path` (relative: below `cwd`) goes up from a name that may be a link: with
// `l -> /usr/bin`, l/../lib is /usr/lib and not ./lib. The folders on the way to `real` are none.
bool may_leave_by_link(std::string_view path, std::string_view cwd,
                       std::initializer_list<std::string_view> real);

// How an operation reaches its target.
struct Reach {
  bool is_tree = false;      // everything below, too
  bool is_glob = false;      // the last components hold glob characters
  bool is_narrowed = false;  // a tree of which only names that match a pattern are touched
  bool is_moved = false;     // a tree that goes on elsewhere
};

// What paths are measured by; both may be empty.
struct Folders {
  std::string_view cwd = {}, home = {};
};

// `path` is normal. Devices are those that hold data.
Scope scope_of(std::string_view path, Reach reach, const Folders& folders);

bool is_tmp_folder(std::string_view path) noexcept;  // /tmp, /var/tmp …
bool is_tmp(std::string_view path) noexcept;         // what is below them, too
bool is_sink(std::string_view path) noexcept;        // /dev/null, /dev/stdout, /dev/tty …
bool is_endless_device(std::string_view path);       // /dev/zero and its kin, however spelled
bool is_socket(std::string_view path) noexcept;      // bash's /dev/tcp/HOST/PORT
bool is_credential(std::string_view path, std::string_view home) noexcept;
bool is_key_store(std::string_view path) noexcept;  // keys that cannot be restored
// Whether a pattern of file names may match one of the well-known credential files.
bool may_be_credential(std::string_view pattern, std::string_view home) noexcept;
bool is_persistence(std::string_view path, std::string_view home) noexcept;
bool is_own_rc(std::string_view path, std::string_view home) noexcept;
bool is_trust_root(std::string_view path) noexcept;
bool is_history_file(std::string_view path, std::string_view home) noexcept;

// Whether a file name pattern (`*`, `?`, `[…]`) may match `name`.
bool may_match(std::string_view pattern, std::string_view name) noexcept;

}  // namespace wick::shell
