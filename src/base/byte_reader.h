// Reads little-endian values and byte ranges from untrusted memory, and never reads past its end. A
// read that does not fit returns false and does not move the position. A plain value, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace wick {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t position() const noexcept { return at_; }

  std::size_t remaining() const noexcept { return bytes_.size() - at_; }

  template <class T>
  std::optional<T> read() noexcept {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    if (sizeof(T) > remaining()) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::optional<std::span<const std::byte>> take(std::uint64_t n) noexcept {
    if (n > remaining()) return std::nullopt;
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(n));
    at_ += static_cast<std::size_t>(n);
    return part;
  }

  std::optional<std::string_view> take_text(std::uint64_t n) noexcept {
    const auto part = take(n);
    if (!part) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(part->data()), part->size());
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace wick
