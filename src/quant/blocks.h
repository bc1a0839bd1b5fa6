// The block layouts of all number formats, as in files, and the value tables of IQ4 and MXFP4. Only
// plain structs and arrays without functions, so that kernel files of one ISA may include this
// header (docs/ARCHITECTURE.md, "ISA dispatch"). All fields are little-endian; scales named *_f16
// are IEEE half. quant/<name>.h documents the fields and the formula of a value. Source of the
// layouts: the GGUF specification; checked against the Python package gguf 0.19.0 by tools/goldens.
#pragma once

#include <cstdint>

namespace wick {

struct BlockQ4_0 {
  std::uint16_t d_f16;
  std::uint8_t qs[16];
};

struct BlockQ4_1 {
  std::uint16_t d_f16;
  std::uint16_t m_f16;
  std::uint8_t qs[16];
};

struct BlockQ5_0 {
  std::uint16_t d_f16;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

struct BlockQ5_1 {
  std::uint16_t d_f16;
  std::uint16_t m_f16;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

struct BlockQ8_0 {
  std::uint16_t d_f16;
  std::int8_t qs[32];
};

struct BlockQ2_K {
  std::uint8_t scales[16];
  std::uint8_t qs[64];
  std::uint16_t d_f16;
  std::uint16_t dmin_f16;
};

struct BlockQ3_K {
  std::uint8_t hmask[32];
  std::uint8_t qs[64];
  std::uint8_t scales[12];
  std::uint16_t d_f16;
};

struct BlockQ4_K {
  std::uint16_t d_f16;
  std::uint16_t dmin_f16;
  std::uint8_t scales[12];
  std::uint8_t qs[128];
};

struct BlockQ5_K {
  std::uint16_t d_f16;
  std::uint16_t dmin_f16;
  std::uint8_t scales[12];
  std::uint8_t qh[32];
  std::uint8_t qs[128];
};

struct BlockQ6_K {
  std::uint8_t ql[128];
  std::uint8_t qh[64];
  std::int8_t scales[16];
  std::uint16_t d_f16;
};

struct BlockIQ4_NL {
  std::uint16_t d_f16;
  std::uint8_t qs[16];
};

struct BlockIQ4_XS {
  std::uint16_t d_f16;
  std::uint16_t scales_h;
  std::uint8_t scales_l[4];
  std::uint8_t qs[128];
};

struct BlockMXFP4 {
  std::uint8_t e;
  std::uint8_t qs[16];
};

// The values of the quants of IQ4_NL and IQ4_XS, ascending: dense near zero, as weights are.
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
// The values of the quants of MXFP4, doubled, so that they are integers.
inline constexpr std::int8_t kMxfp4Doubled[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                  0, -1, -2, -3, -4, -6, -8, -12};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22);
static_assert(sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34 && sizeof(BlockQ2_K) == 84);
static_assert(sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176);
static_assert(sizeof(BlockQ6_K) == 210 && sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_XS) == 136);
static_assert(sizeof(BlockMXFP4) == 17);

}  // namespace wick
