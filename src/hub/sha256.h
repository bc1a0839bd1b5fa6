// SHA-256 as the store uses it: a running sum that can be copied. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace wick {

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  ~Sha256();

  void add(std::span<const std::byte> bytes);
  std::string hex();  // 64 lower-case digits; ends the sum, which starts anew

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_text(std::string_view text);

// ^[0-9a-f]{64}$
bool is_sha256_hex(std::string_view text) noexcept;

}  // namespace wick
