#include "base/catch_bad_alloc.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/hot_counters.h"

namespace wick {
namespace {

template <class Thrown>
Error error_for(const Thrown& thrown) {
  const auto result = catch_bad_alloc([&]() -> Result<int> { throw thrown; });
  EXPECT_FALSE(result);
  return result ? Error{} : result.error();
}

TEST(MemoryDoor, TurnsWhatIsThrownIntoAnError) {
  EXPECT_EQ(error_for(std::bad_alloc()).id, "out_of_memory");
  EXPECT_EQ(error_for(std::bad_array_new_length()).code, ErrorCode::kNoMemory);
  EXPECT_EQ(error_for(std::length_error("too long")).code, ErrorCode::kNoMemory);
  EXPECT_EQ(error_for(7).id, "unexpected");
  const Error other = error_for(std::runtime_error("the file system is gone"));
  EXPECT_EQ(other.code, ErrorCode::kIo);
  EXPECT_EQ(other.message, "the file system is gone");
  EXPECT_EQ(*catch_bad_alloc([]() -> Result<int> { return 3; }), 3);
}

TEST(MemoryDoor, NeedsNoMemoryToSayThatThereIsNone) {
  const auto result = catch_bad_alloc([]() -> Result<int> {
    const std::runtime_error error(std::string(100, 'x'));
    test::fail_allocation(2);  // the exception itself comes first
    throw error;
  });
  test::fail_allocation(0);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().id == "out_of_memory" || result.error().id == "unexpected");
}

}  // namespace
}  // namespace wick
