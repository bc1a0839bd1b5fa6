#include "base/aligned.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace wick {
namespace {

TEST(AlignedBuffer, IsZeroedAndAlignedToAPage) {
  for (const auto pages : {AlignedBuffer::Pages::kLazy, AlignedBuffer::Pages::kHuge}) {
    auto buffer = AlignedBuffer::create(3 << 20, pages);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 4096, 0U);
    EXPECT_EQ(buffer->as<float>()[0], 0);
    EXPECT_EQ(buffer->data()[buffer->bytes() - 1], std::byte{0});
  }
}

TEST(AlignedBuffer, MayReserveFarMoreThanItTouches) {
  const auto buffer = AlignedBuffer::create(std::size_t{1} << 38);  // 256 GiB
  ASSERT_TRUE(buffer) << to_string(buffer.error());
  buffer->data()[std::size_t{1} << 37] = std::byte{1};
}

TEST(AlignedBuffer, RefusesWhatNoAddressSpaceHolds) {
  EXPECT_EQ(AlignedBuffer::create(SIZE_MAX / 2).error().code, ErrorCode::kNoMemory);
}

TEST(AlignedBuffer, MovesItsMemory) {
  AlignedBuffer first = *AlignedBuffer::create(4096);
  first.as<int>()[0] = 7;
  AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.as<int>()[0], 7);
  second = AlignedBuffer{};
  EXPECT_EQ(second.bytes(), 0U);
}

}  // namespace
}  // namespace wick
