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

FileId id_of(const struct stat& info) noexcept {
  return {.device = info.st_dev, .inode = info.st_ino};
}

std::int64_t written_ns(const struct stat& info) noexcept {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

std::optional<FileId> file_id(const std::filesystem::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return id_of(info);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  std::error_code unknown;
  auto whole = std::filesystem::absolute(path, unknown);
  if (unknown) whole = path;
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
  Stamp stamp{.path = std::move(whole),
              .id = id_of(info),
              .size = static_cast<std::uint64_t>(info.st_size),
              .written_ns = written_ns(info)};
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    ::close(fd);
    return MappedFile(std::span<const std::byte>{}, std::move(stamp));
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  const int code = errno;
  ::close(fd);
  if (data == MAP_FAILED) return io_error(path, code);
  return MappedFile(std::span(static_cast<const std::byte*>(data), size), std::move(stamp));
}

bool MappedFile::is_untouched() const noexcept {
  struct stat info = {};
  if (::stat(stamp_.path.c_str(), &info) != 0 || id_of(info) != stamp_.id) return true;
  return static_cast<std::uint64_t>(info.st_size) == stamp_.size &&
         written_ns(info) == stamp_.written_ns;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace wick
