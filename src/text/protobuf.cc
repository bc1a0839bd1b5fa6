#include "text/protobuf.h"

namespace wick {

bool ProtoReader::fail() noexcept {
  has_failed_ = true;
  rest_ = {};
  return false;
}

bool ProtoReader::read_varint(std::uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtoReader::read_fixed(std::size_t n) noexcept {
  if (n > rest_.size()) return false;
  for (std::size_t i = 0; i < n; ++i) {
    fixed_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(n);
  return true;
}

bool ProtoReader::next() noexcept {
  if (rest_.empty()) return false;
  bytes_ = {};
  integer_ = fixed_ = 0;
  std::uint64_t tag = 0;
  if (!read_varint(tag) || (tag >> 3U) == 0 || (tag >> 3U) > 0x1FFFFFFFU) return fail();
  field_ = static_cast<std::uint32_t>(tag >> 3U);
  switch (tag & 7U) {
    case 0:
      return read_varint(integer_) || fail();
    case 1:
      return read_fixed(8) || fail();
    case 2: {
      std::uint64_t n = 0;
      if (!read_varint(n) || n > rest_.size()) return fail();
      bytes_ = rest_.substr(0, static_cast<std::size_t>(n));
      rest_.remove_prefix(static_cast<std::size_t>(n));
      return true;
    }
    case 5:
      return read_fixed(4) || fail();
    default:
      return fail();
  }
}

}  // namespace wick
