#include "quant/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace wick {
namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// The value of a half by its definition, in double, where every one of them is exact.
double half_by_definition(std::uint32_t half) {
  const int exponent = static_cast<int>(half >> 10 & 31u);
  const int fraction = static_cast<int>(half & 1023u);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000u) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryFiniteHalfWidensToItsDefinition) {
  for (std::uint32_t h = 0; h < 0x10000u; ++h) {
    if ((h & 0x7c00u) == 0x7c00u) continue;
    const float wide = f16_to_f32(static_cast<std::uint16_t>(h));
    ASSERT_EQ(static_cast<double>(wide), half_by_definition(h)) << h;
    ASSERT_EQ(std::signbit(wide), (h & 0x8000u) != 0) << h;
  }
}

TEST(Half, WideningThenNarrowingGivesEveryHalfBack) {
  for (std::uint32_t h = 0; h < 0x10000u; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    const bool is_nan = (h & 0x7fffu) > 0x7c00u;
    ASSERT_EQ(f32_to_f16(f16_to_f32(half)), is_nan ? (h | 0x200u) : h);
  }
}

TEST(Half, NarrowingRoundsToNearestAndTiesToEven) {
  for (std::uint32_t h = 0; h < 0x7bffu; ++h) {
    const float low = f16_to_f32(static_cast<std::uint16_t>(h));
    const float high = f16_to_f32(static_cast<std::uint16_t>(h + 1));
    const float middle = (low + high) * 0.5f;  // exact: halves are 13 bits short of a float
    const std::uint32_t even = h + (h & 1u);
    ASSERT_EQ(f32_to_f16(middle), even) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, low)), h);
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, high)), h + 1);
    ASSERT_EQ(f32_to_f16(-middle), even | 0x8000u) << h;
  }
}

TEST(Half, NarrowingHandlesTheEnds) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(inf), 0x7c00);
  EXPECT_EQ(f32_to_f16(-inf), 0xfc00);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);  // a tie with zero, which is even
  EXPECT_EQ(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1p-149f), 0x0000);
  EXPECT_EQ(f32_to_f16(-0x1p-149f), 0x8000);
  EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
}

TEST(Half, NansStayNansAndBecomeQuiet) {
  EXPECT_EQ(bits_of(f16_to_f32(0x7c01)), 0x7fc02000u);
  EXPECT_EQ(bits_of(f16_to_f32(0xfe00)), 0xffc00000u);
  EXPECT_EQ(f32_to_f16(std::bit_cast<float>(0x7f800001u)), 0x7e00);
  EXPECT_EQ(f32_to_f16(std::bit_cast<float>(0xffffffffu)), 0xffff);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0xffffffffu)), 0xffff);
}

TEST(Half, SaturatedNarrowingKeepsWhatIsFiniteFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(f32_to_f16_saturated(65519.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16_saturated(65520.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16_saturated(-8e6f), 0xfbff);
  EXPECT_EQ(f32_to_f16_saturated(most), 0x7bff);
  EXPECT_EQ(f32_to_f16_saturated(inf), 0x7c00);
  EXPECT_EQ(f32_to_f16_saturated(-inf), 0xfc00);
  EXPECT_EQ(f32_to_bf16_saturated(most), 0x7f7f);
  EXPECT_EQ(f32_to_bf16_saturated(-most), 0xff7f);
  EXPECT_EQ(f32_to_bf16_saturated(inf), 0x7f80);
  EXPECT_EQ(f32_to_bf16_saturated(-inf), 0xff80);
  for (const std::uint32_t nan : {0x7fc00000u, 0xffffffffu, 0x7f800001u}) {
    EXPECT_EQ(f32_to_f16_saturated(std::bit_cast<float>(nan)), 0x7e00) << nan;
    EXPECT_EQ(f32_to_bf16_saturated(std::bit_cast<float>(nan)), 0x7fc0) << nan;
  }
  for (const float x : {0.0f, -0.0f, 1.5f, -3e-8f, 65504.0f, 0x1p-149f}) {
    EXPECT_EQ(f32_to_f16_saturated(x), f32_to_f16(x)) << x;
    EXPECT_EQ(f32_to_bf16_saturated(x), f32_to_bf16(x)) << x;
  }
}

TEST(Bfloat16, WidensToTheUpperHalfOfAFloat) {
  for (std::uint32_t h = 0; h < 0x10000u; ++h) {
    ASSERT_EQ(bits_of(bf16_to_f32(static_cast<std::uint16_t>(h))), h << 16);
  }
}

TEST(Bfloat16, NarrowingRoundsToNearestAndTiesToEven) {
  for (std::uint32_t h = 0; h < 0x7f80u; ++h) {
    const std::uint32_t low = h << 16;
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(low)), h);
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(low + 0x7fffu)), h);
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(low + 0x8000u)), h + (h & 1u));
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(low + 0x8001u)), h + 1);
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(low + 0x80008001u)), (h + 1) | 0x8000u);
  }
}

TEST(Bfloat16, NarrowingKeepsInfinitiesAndOverflowsToThem) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f32_to_bf16(inf), 0x7f80);
  EXPECT_EQ(f32_to_bf16(-inf), 0xff80);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

}  // namespace
}  // namespace wick
