// Crash-safe files, and locks between processes. All functions refuse symbolic links in the last
// part of a path. Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wick {

// An open file, closed with the object. Move-only.
class FileHandle {
 public:
  FileHandle() = default;

  explicit FileHandle(int fd) : fd_(fd) {}

  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  ~FileHandle();

  int fd() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

// kNotFound, kIo or (no room left) kIo with id "disk_full", for the errno value `code`.
Error file_error(const std::filesystem::path& path, std::string_view doing, int code);

Result<FileHandle> open_for_reading(const std::filesystem::path& path);  // regular files only
Result<FileHandle> open_for_writing(const std::filesystem::path& path);  // made if absent, kept
Result<void> write_at(const FileHandle& file, const std::filesystem::path& path,
                      std::span<const std::byte> bytes, std::uint64_t at);
// Reads until `out` is full or the file ends; returns the number of bytes.
Result<std::size_t> read_at(const FileHandle& file, const std::filesystem::path& path,
                            std::span<std::byte> out, std::uint64_t at);
Result<void> sync_file(const FileHandle& file, const std::filesystem::path& path);
Result<void> sync_folder(const std::filesystem::path& folder);

// A small file as text; kCorrupt when it is longer than `limit`, is a link or no regular file.
Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t limit);
// Temporary file, fsync, rename, fsync of the folder: afterwards `path` holds the old or the new
// text, whatever happens. For records of the store; two writers of the same path need a lock. Files
// that a user names are written by hub/atomic_file.h.
Result<void> write_small_file(const std::filesystem::path& path, std::string_view text);
// Renames, then calls fsync for the folder. Both paths must be in the same file system.
Result<void> move_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Bytes of a regular file; kNotFound for anything else (a link too).
Result<std::uint64_t> regular_file_size(const std::filesystem::path& path);

// A lock that ends with the object or the process, also with kill -9. The lock file holds the
// owner's process number and goes away with the lock. Move-only.
class FileLock {
 public:
  // Waits for the current owner. `on_wait` is called once with the owner ("process 123") if it has
  // to wait.
  static Result<FileLock> acquire(std::filesystem::path path, const std::stop_token& stop,
                                  const std::function<void(std::string_view)>& on_wait);

  FileLock(FileLock&&) noexcept = default;

  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
  }

  ~FileLock();

 private:
  FileLock(std::filesystem::path path, FileHandle file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_ = {};
  FileHandle file_ = {};
};

}  // namespace wick
