// A file mapped read-only into memory: no copy, shared with every process that maps it, evictable.
// Move-only; the mapping lives as long as the object. Only regular files are accepted (no devices,
// no pipes). Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"

namespace wick {

// Which file it is, under whatever name: that of what links lead to.
struct FileId {
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

std::optional<FileId> file_id(const std::filesystem::path& path);  // none: it cannot be seen

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), id_(other.id_) {}

  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(id_, other.id_);
    return *this;
  }

  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }  // empty for an empty file

  FileId id() const noexcept { return id_; }

 private:
  MappedFile(std::span<const std::byte> bytes, FileId id) : bytes_(bytes), id_(id) {}

  std::span<const std::byte> bytes_ = {};
  FileId id_ = {};
};

}  // namespace wick
