// Writes a blob from bytes in order (from an archive or cache), hashing them; the blob appears only
// when complete. One thread; an unfinished one is removed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "hub/durable.h"
#include "hub/store.h"

namespace wick {

class BlobWriter {
 public:
  // The temporary file is `folder`/blob, in the store's file system; the caller owns the folder.
  static Result<BlobWriter> create(const std::filesystem::path& folder);

  BlobWriter(BlobWriter&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        file_(std::move(other.file_)),
        sum_(other.sum_),
        bytes_(other.bytes_) {}

  BlobWriter& operator=(BlobWriter&&) = delete;
  ~BlobWriter();

  Result<void> add(std::span<const std::byte> bytes);
  // kCorrupt (id "hash_mismatch") when `wanted` is not empty and not the hash of what was added;
  // kCorrupt (id "empty_file") when nothing was.
  Result<StoredFile> finish(const Store& store, std::string_view name, std::string_view wanted);

 private:
  BlobWriter(std::filesystem::path path, FileHandle file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  FileHandle file_;
  Sha256 sum_ = {};
  std::uint64_t bytes_ = 0;
};

// A folder under the store's tmp/, empty at first, that belongs to the holder of the lock of the
// same key, and is removed with the object: also what a killed owner left goes away here.
class WorkFolder {
 public:
  static Result<WorkFolder> create(const Store& store, std::string_view key);

  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace wick
