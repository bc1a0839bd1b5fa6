#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/strings.h"

namespace wick {

namespace {

Error io_error(const std::filesystem::path& path, int code) {
  const bool is_absent = code == ENOENT || code == ENOTDIR;
  return {.code = is_absent ? ErrorCode::kNotFound : ErrorCode::kIo,
          .id = is_absent ? "file_not_found" : "file_unreadable",
          .message = cat(printable(path.string()), ": ",
                         std::error_code(code, std::generic_category()).message()),
          .hint = is_absent ? "check the path, or list local models with: wick model list" : ""};
}

}  // namespace

std::optional<FileId> file_id(const std::filesystem::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId{.device = info.st_dev, .inode = info.st_ino};
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe or a device must fail below, not hang here.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return io_error(path, errno);
  struct stat info = {};
  if (::fstat(fd, &info) != 0) {
    const int code = errno;
    ::close(fd);
    return io_error(path, code);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error{.code = ErrorCode::kInvalid,
                 .id = "not_a_file",
                 .message = cat(printable(path.string()), " is not a regular file")};
  }
  const FileId id{.device = info.st_dev, .inode = info.st_ino};
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    ::close(fd);
    return MappedFile(std::span<const std::byte>{}, id);
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  const int code = errno;
  ::close(fd);
  if (data == MAP_FAILED) return io_error(path, code);
  return MappedFile(std::span(static_cast<const std::byte*>(data), size), id);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace wick
