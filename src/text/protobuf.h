// The fields of a protocol buffer message, one after another, out of bytes that may say anything.
// Groups, which nothing uses any more, end the message as damaged. One thread.
//
//   for (ProtoReader in(bytes); in.next();) {
//     if (in.field() == 1) text = in.bytes();
//   }
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace wick {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  // Goes to the next field; false at the end and behind the first fault.
  bool next() noexcept;

  bool has_failed() const noexcept { return has_failed_; }

  std::uint32_t field() const noexcept { return field_; }

  // The value of the field, read as what the caller expects; of another kind: 0 or empty.
  std::string_view bytes() const noexcept { return bytes_; }

  std::uint64_t integer() const noexcept { return integer_; }

  bool flag() const noexcept { return integer_ != 0; }

  float number() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(fixed_)); }

 private:
  bool fail() noexcept;
  bool read_varint(std::uint64_t& value) noexcept;
  bool read_fixed(std::size_t n) noexcept;

  std::string_view rest_;
  std::string_view bytes_ = {};
  std::uint64_t integer_ = 0, fixed_ = 0;
  std::uint32_t field_ = 0;
  bool has_failed_ = false;
};

}  // namespace wick
