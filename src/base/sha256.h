// SHA-256: a running sum that can be copied. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

using Digest = std::array<unsigned char, 32>;

// Loads libcrypto (dlopen), which has the code; kUnavailable where it is not installed. Any thread,
// before the first sum: a Sha256 that cannot load it throws the message.
Result<void> load_sha256();

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  ~Sha256();

  void add(std::span<const std::byte> bytes);
  Digest digest();    // ends the sum, which starts anew
  std::string hex();  // the same as 64 lower-case digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::string_view text);
std::string sha256_text(std::string_view text);  // as hex

// ^[0-9a-f]{64}$
bool is_sha256_hex(std::string_view text) noexcept;

}  // namespace wick
