// Constants of the block formats for the vector kernels of every ISA, one row per format; plain
// constants, so that per-ISA files may include them (docs/ARCHITECTURE.md, "ISA dispatch"). Layouts
// and formulas: quant/<name>.h; the scalar definition: scalar_formats.h.
//
//   Block      as in the file
//   kHasMin    x = d * q + m (blocks of 32) or d * scale * q - dmin * min (super-blocks)
//   kOffset    kernels unpack q + kOffset, a whole number of 0 ..
//   kMaxQuant   .. at most this much
//   kScales    of a super-block: 8 for 32 weights each or 16 for 16
//   kTable     what the stored nibbles stand for, where that is not q + kOffset itself: if
//   kHasTable
//              (g++ 12 with -fsanitize=undefined takes no comparison with null for constant)
// Hot: all of it.
#pragma once

#include "quant/blocks.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

template <class BlockType, bool HasMin, int Offset, int MaxQuant>
struct Block32Format {
  using Block = BlockType;
  static constexpr bool kHasMin = HasMin;
  static constexpr int kOffset = Offset, kMaxQuant = MaxQuant;
  static constexpr bool kHasTable = false;
};

struct Q4_0 : Block32Format<BlockQ4_0, false, 8, 15> {};

struct Q4_1 : Block32Format<BlockQ4_1, true, 0, 15> {};

struct Q5_0 : Block32Format<BlockQ5_0, false, 16, 31> {};

struct Q5_1 : Block32Format<BlockQ5_1, true, 0, 31> {};

struct Q8_0 : Block32Format<BlockQ8_0, false, 128, 255> {};

struct IQ4_NL : Block32Format<BlockIQ4_NL, false, 128, 241> {
  static constexpr bool kHasTable = true;
  static constexpr const std::int8_t* kTable = kIq4Values;
};

// 12 would suffice; activation rows have sums for 16.
struct MXFP4 : Block32Format<BlockMXFP4, false, 16, 28> {
  static constexpr bool kHasTable = true;
  static constexpr const std::int8_t* kTable = kMxfp4Doubled;
};

template <class BlockType, bool HasMin, int Scales, int Offset, int MaxQuant>
struct SuperBlockFormat {
  using Block = BlockType;
  static constexpr bool kHasMin = HasMin;
  static constexpr int kScales = Scales, kOffset = Offset, kMaxQuant = MaxQuant;
};

struct Q2_K : SuperBlockFormat<BlockQ2_K, true, 16, 0, 3> {};

struct Q3_K : SuperBlockFormat<BlockQ3_K, false, 16, 4, 7> {};

struct Q4_K : SuperBlockFormat<BlockQ4_K, true, 8, 0, 15> {};

struct Q5_K : SuperBlockFormat<BlockQ5_K, true, 8, 0, 31> {};

struct Q6_K : SuperBlockFormat<BlockQ6_K, false, 16, 32, 63> {};

struct IQ4_XS : SuperBlockFormat<BlockIQ4_XS, false, 8, 128, 241> {};

}  // namespace
}  // namespace wick
