#include "hub/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include "base/hex.h"
#include "base/strings.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxKept = 40;  // bytes of the target's name in that of the temporary file
constexpr int kMaxTries = 16;         // names that another writer has already

// ".session.bin.1234-9f86d081884c7d65.tmp"
std::string temporary_name(const fs::path& target) {
  std::random_device random;
  std::string name = cat(".", target.filename().string().substr(0, kMaxKept), ".", ::getpid(), "-");
  append_hex(name, random(), 8);
  append_hex(name, random(), 8);
  return name + ".tmp";
}

Error not_a_file(const fs::path& path, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "not_a_file",
          .message = cat(printable(path.string()), " is ", what, ", wanted is a regular file"),
          .hint = "name a file that may be replaced, or one that is not there yet"};
}

// file_error() speaks of the store, whose place is WICK_HOME's; this file's place was named.
Result<void> named(Result<void> done) {
  if (done || done.error().id != "disk_full") return done;
  Error error = std::move(done).error();
  error.hint = "make room there, or name a file on another disk";
  return error;
}

std::string descriptor_path(const FileHandle& file) {
  return cat("/proc/self/fd/", file.fd());
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const fs::path& path, std::span<const FileId> inputs) {
  AtomicFile file(path);
  WICK_DO(file.look_at_target(inputs));
  WICK_DO(file.open_temporary());
  return file;
}

Result<void> AtomicFile::check(const fs::path& path, std::span<const FileId> inputs) {
  WICK_TRY(const AtomicFile file, create(path, inputs));
  return {};
}

Result<void> AtomicFile::look_at_target(std::span<const FileId> inputs) {
  struct stat info = {};
  if (path_.empty()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_file_name",
                 .message = "the name of the file to write is empty",
                 .hint = "name a file"};
  }
  if (path_.filename().empty()) return not_a_file(path_, "a folder");
  if (::stat(path_.c_str(), &info) != 0) {
    if (errno != ENOENT) return file_error(path_, "write", errno);
    struct stat link = {};
    if (::lstat(path_.c_str(), &link) == 0) return not_a_file(path_, "a link that leads nowhere");
    target_ = path_;
    return {};
  }
  if (!S_ISREG(info.st_mode)) return not_a_file(path_, kind_of(info.st_mode));
  const FileId id{.device = info.st_dev, .inode = info.st_ino};
  if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "output_is_input",
                 .message = cat(printable(path_.string()),
                                " is read by this command, so it cannot "
                                "be written"),
                 .hint = "name another file to write"};
  }
  // Renaming needs rights to the folder alone; a file that may not be written stays as it is.
  const FileHandle present(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (present.fd() < 0) return file_error(path_, "write", errno);
  std::error_code code;
  target_ = fs::canonical(path_, code);
  if (code) return file_error(path_, "write", code.value());
  return {};
}

fs::path AtomicFile::folder() const {
  return target_.has_parent_path() ? target_.parent_path() : ".";
}

// A file without a name goes with its writer, also when that is killed.
bool AtomicFile::open_nameless() {
  file_ = FileHandle(::open(folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file_.fd() >= 0 && ::access(descriptor_path(file_).c_str(), F_OK) == 0) return true;
  file_ = FileHandle();
  return false;
}

Result<void> AtomicFile::name_temporary() {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    temporary_ = target_.parent_path() / temporary_name(target_);
    if (::linkat(AT_FDCWD, descriptor_path(file_).c_str(), AT_FDCWD, temporary_.c_str(),
                 AT_SYMLINK_FOLLOW) == 0)
      return {};
    const int code = errno;
    temporary_.clear();
    if (code != EEXIST) return named(file_error(path_, "write", code));
  }
  return file_error(path_, "write", EEXIST);
}

Result<void> AtomicFile::open_temporary() {
  const bool is_nameless = open_nameless();
  for (int tries = 0; !is_nameless; ++tries) {
    temporary_ = target_.parent_path() / temporary_name(target_);
    file_ = FileHandle(
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file_.fd() >= 0) break;
    const int code = errno;
    temporary_.clear();
    if (code != EEXIST || tries == kMaxTries) {
      Error error = file_error(path_, "write", code);
      error.message =
          cat("cannot write ", printable(path_.string()), ": a new file in the folder ",
              printable(folder().string()),
              " cannot be created: ", std::error_code(code, std::generic_category()).message());
      return named(error).error();
    }
  }
  struct stat info = {};
  if (::stat(target_.c_str(), &info) == 0) {
    static_cast<void>(::fchown(file_.fd(), info.st_uid, info.st_gid) == 0);  // as far as we may
    static_cast<void>(::fchmod(file_.fd(), info.st_mode & 0777) == 0);
  }
  return {};
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> AtomicFile::add(std::span<const std::byte> bytes) {
  WICK_DO(named(write_at(file_, path_, bytes, bytes_)));
  bytes_ += bytes.size();
  return {};
}

Result<void> AtomicFile::add(std::string_view text) {
  return add(std::as_bytes(std::span(text)));
}

Result<void> AtomicFile::commit() {
  WICK_DO(named(sync_file(file_, path_)));
  if (temporary_.empty()) WICK_DO(name_temporary());
  WICK_DO(named(move_durably(temporary_, target_)));
  temporary_.clear();
  return {};
}

}  // namespace wick
