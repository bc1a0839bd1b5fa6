// A file mapped read-only into memory: no copy, shared with every process that maps it, evictable.
// Move-only; the mapping lives as long as the object. Only regular files are accepted (no devices,
// no pipes). Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"

namespace wick {

// The identity of a file, independent of its name; links are followed.
struct FileId {
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

std::optional<FileId> file_id(const std::filesystem::path& path);  // none: it cannot be seen

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), stamp_(std::move(other.stamp_)) {}

  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(stamp_, other.stamp_);
    return *this;
  }

  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }  // empty for an empty file

  FileId id() const noexcept { return stamp_.id; }

  const std::filesystem::path& path() const noexcept { return stamp_.path; }  // absolute

  // False once the file of the path it was opened by was modified in place: then bytes() shows the
  // changes, and reading past a new end of the file kills the process (SIGBUS). Replacing the file
  // by rename, or deleting it, does not count: bytes() stays unchanged.
  bool is_untouched() const noexcept;

 private:
  struct Stamp {
    std::filesystem::path path = {};
    FileId id = {};
    std::uint64_t size = 0;
    std::int64_t written_ns = 0;
  };

  MappedFile(std::span<const std::byte> bytes, Stamp stamp)
      : bytes_(bytes), stamp_(std::move(stamp)) {}

  std::span<const std::byte> bytes_ = {};
  Stamp stamp_ = {};
};

}  // namespace wick
