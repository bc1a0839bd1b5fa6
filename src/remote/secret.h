// API keys. A Secret cannot be printed, logged or written as JSON: reveal() is called only where a
// request's header is made, and where the key is removed from an API's message. One owner; the
// memory is overwritten when it is freed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wick::remote {

class Secret {
 public:
  Secret() = default;

  explicit Secret(std::string text) : text_(std::move(text)) {}

  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;

  ~Secret() { wipe(); }

  bool empty() const noexcept { return text_.empty(); }

  const std::string& reveal() const noexcept { return text_; }

 private:
  void wipe() noexcept;

  std::string text_ = {};
};

// Where a key stands. Several may be named; the first that is there is taken.
struct SecretSource {
  std::string variable = {};    // of the environment
  std::string file = {};        // mode 0600 or stricter, owned by this user or root
  std::string credential = {};  // of systemd: a file of $CREDENTIALS_DIRECTORY
};

using ReadEnvironment = std::function<const char*(const char* name)>;

// Empty if the source names nothing. Errors (kInvalid): "no_key" (nothing there), "open_key_file"
// (others may read it), "bad_key" (empty, longer than 4 KiB, or with control characters).
Result<Secret> read_secret(const SecretSource& source, const ReadEnvironment& environment = {});

}  // namespace wick::remote
