#include "remote/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/strings.h"

namespace wick::remote {

namespace {

constexpr std::size_t kMaxKeyBytes = 4096;

Error key_error(std::string id, std::string message, std::string hint = {}) {
  return {.code = ErrorCode::kInvalid,
          .id = std::move(id),
          .message = std::move(message),
          .hint = std::move(hint)};
}

struct Descriptor {
  int fd = -1;

  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// systemd protects its own files by the folder's mode.
Result<std::string> read_key_file(const std::string& path, bool checks_mode) {
  Descriptor file;
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about = {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0)
    return key_error(
        "no_key", cat("the key file ", printable(path), " cannot be read: ", std::strerror(errno)));
  if (!S_ISREG(about.st_mode))
    return key_error("bad_key", cat("the key file ", printable(path), " is no regular file"));
  const bool is_open = (about.st_mode & 0077U) != 0;
  const bool is_foreign = about.st_uid != ::geteuid() && about.st_uid != 0;
  if (checks_mode && (is_open || is_foreign)) {
    return key_error("open_key_file",
                     cat("the key file ", printable(path),
                         is_open ? " can be read by others" : " belongs to another user"),
                     cat("chmod 600 ", printable(path)));
  }
  std::array<char, kMaxKeyBytes + 2> bytes;
  const ssize_t n = ::read(file.fd, bytes.data(), bytes.size());
  if (n < 0) return key_error("no_key", cat(printable(path), ": ", std::strerror(errno)));
  std::string text(bytes.data(), static_cast<std::size_t>(n));
  std::fill(bytes.begin(), bytes.end(), '\0');
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  return text;
}

Result<Secret> checked(std::string text, std::string_view place) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F;
  });
  if (text.empty() || text.size() > kMaxKeyBytes || !is_plain) {
    return key_error("bad_key", cat("the key of ", printable(place),
                                    text.empty() ? " is empty"
                                                 : " is no key: it holds blanks, "
                                                   "control characters or is longer "
                                                   "than 4096 bytes"));
  }
  return Secret(std::move(text));
}

}  // namespace

Secret& Secret::operator=(const Secret& other) {
  if (this == &other) return *this;
  wipe();
  text_ = other.text_;
  return *this;
}

// A moved short string leaves its bytes behind.
Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  other.wipe();
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  text_ = std::move(other.text_);
  other.wipe();
  return *this;
}

void Secret::wipe() noexcept {
  text_.resize(text_.capacity());  // within the capacity: no allocation
  ::explicit_bzero(text_.data(), text_.size());
  text_.clear();
}

Result<Secret> read_secret(const SecretSource& source, const ReadEnvironment& environment) {
  const auto variable = [&](const char* name) {
    return environment ? environment(name) : std::getenv(name);
  };
  std::string missing;
  if (!source.variable.empty()) {
    const char* const value = variable(source.variable.c_str());
    if (value != nullptr && *value != '\0')
      return checked(value, cat("environment ", source.variable));
    missing = cat("the environment has no ", printable(source.variable));
  }
  if (!source.file.empty()) {
    WICK_TRY(std::string text, read_key_file(source.file, true));
    return checked(std::move(text), source.file);
  }
  if (!source.credential.empty()) {
    const char* const folder = variable("CREDENTIALS_DIRECTORY");
    if (folder == nullptr || source.credential.find('/') != std::string::npos) {
      return key_error("no_key",
                       cat("there is no systemd credential '", printable(source.credential), "'"));
    }
    const std::string path = cat(folder, "/", source.credential);
    WICK_TRY(std::string text, read_key_file(path, false));
    return checked(std::move(text), path);
  }
  if (!missing.empty())
    return key_error("no_key", std::move(missing),
                     cat("export ", printable(source.variable), "=…"));
  return Secret();
}

}  // namespace wick::remote
