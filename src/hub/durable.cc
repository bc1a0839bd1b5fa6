#include "hub/durable.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/strings.h"

namespace wick {

namespace {

constexpr auto kLockPause = std::chrono::milliseconds(50);

bool is_same_file(int fd, const std::filesystem::path& path) {
  struct stat held = {}, named = {};
  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

std::string owner_of(int fd) {
  char text[32] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  std::string digits;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i)
    digits += text[i];
  return digits.empty() ? "another process" : cat("process ", digits);
}

}  // namespace

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

Error file_error(const std::filesystem::path& path, std::string_view doing, int code) {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  const bool is_absent = code == ENOENT || code == ENOTDIR;
  Error error{.code = is_absent ? ErrorCode::kNotFound : ErrorCode::kIo,
              .id = is_absent ? "file_not_found" : "file_error",
              .message = cat("cannot ", doing, " ", printable(path.string()), ": ",
                             std::error_code(code, std::generic_category()).message())};
  if (is_full) {
    error.id = "disk_full";
    error.hint = "make room there, or set WICK_HOME to a folder on a larger disk";
  }
  return error;
}

Result<FileHandle> open_for_reading(const std::filesystem::path& path) {
  // O_NONBLOCK: a pipe or device in place of a file must fail below, not hang here.
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.fd() < 0) return file_error(path, "read", errno);
  struct stat info = {};
  if (::fstat(file.fd(), &info) != 0) return file_error(path, "read", errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "not_a_file",
                 .message = cat(printable(path.string()), " is not a regular file")};
  }
  return file;
}

Result<FileHandle> open_for_writing(const std::filesystem::path& path) {
  FileHandle file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (file.fd() < 0) return file_error(path, "write", errno);
  return file;
}

Result<void> write_at(const FileHandle& file, const std::filesystem::path& path,
                      std::span<const std::byte> bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file.fd(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(path, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<std::size_t> read_at(const FileHandle& file, const std::filesystem::path& path,
                            std::span<std::byte> out, std::uint64_t at) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(file.fd(), out.data() + done, out.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(path, "read", errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<void> sync_file(const FileHandle& file, const std::filesystem::path& path) {
  if (::fsync(file.fd()) != 0) return file_error(path, "write", errno);
  return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const FileHandle handle(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (handle.fd() < 0) return file_error(folder, "open", errno);
  // Some network file systems cannot sync folders; they order renames themselves.
  if (::fsync(handle.fd()) != 0 && errno != EINVAL) return file_error(folder, "write", errno);
  return {};
}

Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t limit) {
  WICK_TRY(const FileHandle file, open_for_reading(path));
  std::string text(limit + 1, '\0');
  WICK_TRY(const std::size_t n,
           read_at(file, path, std::as_writable_bytes(std::span(text.data(), text.size())), 0));
  if (n > limit) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "file_too_long",
                 .message = cat(printable(path.string()), " is longer than ", limit, " bytes")};
  }
  text.resize(n);
  return text;
}

Result<void> write_small_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";  // a fixed name: the next writer overwrites the file of a killed one
  const auto write = [&]() -> Result<void> {
    WICK_TRY(const FileHandle file, open_for_writing(temporary));
    if (::ftruncate(file.fd(), 0) != 0) return file_error(temporary, "write", errno);
    WICK_DO(write_at(file, temporary, std::as_bytes(std::span(text.data(), text.size())), 0));
    WICK_DO(sync_file(file, temporary));
    return move_durably(temporary, path);
  };
  auto written = write();
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<void> move_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return file_error(to, "write", errno);
  const std::filesystem::path folder = to.parent_path();
  return sync_folder(folder.empty() ? "." : folder);
}

Result<std::uint64_t> regular_file_size(const std::filesystem::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return file_error(path, "read", errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "not_a_file",
                 .message = cat(printable(path.string()), " is not a regular file")};
  }
  return static_cast<std::uint64_t>(info.st_size);
}

Result<FileLock> FileLock::acquire(std::filesystem::path path, const std::stop_token& stop,
                                   const std::function<void(std::string_view)>& on_wait) {
  bool is_told = false;
  while (true) {
    WICK_TRY(FileHandle file, open_for_writing(path));
    if (::flock(file.fd(), LOCK_EX | LOCK_NB) == 0) {
      // The last owner may have removed the file between our open and our lock.
      if (!is_same_file(file.fd(), path)) continue;
      const std::string owner = cat(static_cast<std::int64_t>(::getpid()), "\n");
      if (::ftruncate(file.fd(), 0) != 0) return file_error(path, "write", errno);
      WICK_DO(write_at(file, path, std::as_bytes(std::span(owner)), 0));
      return FileLock(std::move(path), std::move(file));
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return file_error(path, "lock", errno);
    if (!is_told && on_wait) on_wait(owner_of(file.fd()));
    is_told = true;
    if (stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled,
                   .id = "cancelled",
                   .message = cat("stopped waiting for ", printable(path.string()))};
    }
    std::this_thread::sleep_for(kLockPause);
  }
}

FileLock::~FileLock() {
  if (file_.fd() >= 0) ::unlink(path_.c_str());  // while still held: nobody can own the name
}

}  // namespace wick
