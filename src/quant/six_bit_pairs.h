// The eight 6-bit scales and eight 6-bit minima of Q4_K and Q5_K in 12 bytes:
//
//   byte j      (j < 4): scale j in bits 0-5, bits 4-5 of scale 4 + j in bits 6-7
//   byte 4 + j  (j < 4): min j in bits 0-5, bits 4-5 of min 4 + j in bits 6-7
//   byte 8 + j  (j < 4): low nibble of scale 4 + j, low nibble of min 4 + j above it
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/bits.h"
#include "quant/search.h"

namespace wick {

struct SixBitPair {
  int scale = 0;
  int min = 0;
};

// j in 0..7.
inline SixBitPair get_six_bit_pair(const std::uint8_t (&bytes)[12], int j) noexcept {
  if (j < 4) return {bytes[j] & 63, bytes[j + 4] & 63};
  return {(bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4, bytes[j + 4] >> 4 | bytes[j] >> 6 << 4};
}

// `bytes` is all zero on entry.
inline void put_six_bit_pairs(const TwoLevel& t, std::uint8_t (&bytes)[12]) noexcept {
  for (std::size_t j = 0; j < 4; ++j) {
    set_bits(bytes[j], t.scale[j], 0);
    set_bits(bytes[j], t.scale[j + 4] >> 4, 6);
    set_bits(bytes[j + 4], t.min[j], 0);
    set_bits(bytes[j + 4], t.min[j + 4] >> 4, 6);
    bytes[j + 8] = pack_nibbles(t.scale[j + 4] & 15, t.min[j + 4] & 15);
  }
}

}  // namespace wick
