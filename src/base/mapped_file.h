// A file mapped read-only into memory: no copy, shared with every process that maps it, evictable.
// Move-only; the mapping lives as long as the object. Only regular files are accepted (no devices,
// no pipes). Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

#include "base/result.h"

namespace wick {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }  // empty for an empty file

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_ = {};
};

}  // namespace wick
