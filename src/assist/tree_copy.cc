#include "assist/tree_copy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "assist/limits.h"
#include "base/strings.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

Error not_copied(std::string what) {
  return {.code = ErrorCode::kUnsupported,
          .id = "no_sandbox",
          .message = cat("the working directory cannot be copied for a sandbox: ", what),
          .hint = "--dry-run lists the effects"};
}

// Names below a folder, links not followed; what cannot be entered counts as empty.
std::vector<fs::path> names_below(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code failed;
  auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied,
                                             failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    names.push_back(it->path().lexically_relative(folder));
    if (names.size() > static_cast<std::size_t>(2 * kMaxSandboxFiles)) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool same_content(const fs::path& a, const fs::path& b) {
  std::ifstream left(a, std::ios::binary), right(b, std::ios::binary);
  std::vector<char> one(1 << 16), other(1 << 16);
  while (left && right) {
    left.read(one.data(), static_cast<std::streamsize>(one.size()));
    right.read(other.data(), static_cast<std::streamsize>(other.size()));
    if (left.gcount() != right.gcount() ||
        !std::equal(one.begin(), one.begin() + left.gcount(), other.begin()))
      return false;
  }
  return true;
}

bool is_equal(const fs::path& before, const fs::path& after) {
  struct stat one = {}, other = {};
  if (::lstat(before.c_str(), &one) != 0 || ::lstat(after.c_str(), &other) != 0) return false;
  if (one.st_mode != other.st_mode) return false;
  std::error_code failed;
  if (S_ISLNK(one.st_mode))
    return fs::read_symlink(before, failed) == fs::read_symlink(after, failed);
  if (!S_ISREG(one.st_mode)) return true;
  return one.st_size == other.st_size && same_content(before, after);
}

bool is_copied_kind(fs::file_type type) {
  return type == fs::file_type::regular || type == fs::file_type::directory ||
         type == fs::file_type::symlink;
}

}  // namespace

Result<void> copy_tree(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  std::uintmax_t bytes = 0;
  int n_files = 0;
  std::vector<std::pair<fs::path, fs::perms>> folders = {
      {to, fs::status(from, failed).permissions()}};
  auto it = fs::recursive_directory_iterator(from, failed);
  if (failed) return not_copied(failed.message());
  for (; it != fs::recursive_directory_iterator(); it.increment(failed)) {
    const fs::path source = it->path(), target = to / source.lexically_relative(from);
    const fs::file_status status = fs::symlink_status(source, failed);
    if (!failed && !is_copied_kind(status.type())) continue;
    if (++n_files > kMaxSandboxFiles)
      return not_copied(cat("it has more than ", kMaxSandboxFiles, " files"));
    if (status.type() == fs::file_type::regular) bytes += fs::file_size(source, failed);
    if (bytes > kMaxSandboxBytes)
      return not_copied(cat("it has more than ", human_bytes(kMaxSandboxBytes)));
    if (!failed && status.type() == fs::file_type::directory) {
      fs::create_directory(target, failed);
      folders.emplace_back(target, status.permissions());
    } else if (!failed && status.type() == fs::file_type::symlink) {
      fs::copy_symlink(source, target, failed);
    } else if (!failed) {
      fs::copy_file(source, target, failed);
      if (!failed) fs::permissions(target, status.permissions(), failed);
    }
    if (failed) return not_copied(cat(printable(source.string()), ": ", failed.message()));
  }
  if (failed) return not_copied(failed.message());
  for (auto one = folders.rbegin(); one != folders.rend(); ++one)
    fs::permissions(one->first, one->second, failed);
  if (failed) return not_copied(failed.message());
  return {};
}

std::vector<SandboxChange> compare_trees(const fs::path& before, const fs::path& after) {
  using Kind = SandboxChange::Kind;
  std::vector<fs::path> old = names_below(before);
  const std::vector<fs::path> fresh = names_below(after);
  std::erase_if(old, [&](const fs::path& name) {  // never copied
    std::error_code failed;
    return !is_copied_kind(fs::symlink_status(before / name, failed).type());
  });
  std::vector<SandboxChange> out;
  for (const fs::path& name : old) {
    if (!std::binary_search(fresh.begin(), fresh.end(), name)) {
      out.push_back({.kind = Kind::kRemoved, .path = name.string()});
    } else if (!is_equal(before / name, after / name)) {
      out.push_back({.kind = Kind::kChanged, .path = name.string()});
    }
  }
  for (const fs::path& name : fresh) {
    if (!std::binary_search(old.begin(), old.end(), name))
      out.push_back({.kind = Kind::kAdded, .path = name.string()});
  }
  std::sort(out.begin(), out.end(),
            [](const SandboxChange& a, const SandboxChange& b) { return a.path < b.path; });
  if (out.size() > kMaxSandboxChanges + 1) out.resize(kMaxSandboxChanges + 1);
  return out;
}

}  // namespace wick::assist
