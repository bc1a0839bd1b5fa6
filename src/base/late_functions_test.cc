#include "base/late_functions.h"

#include <gtest/gtest.h>

#include <cmath>

// Instead of the library's that this program is linked with.
#define WICK_TEST_FUNCTIONS(each) each(jn) each(drem)

namespace wick {

WICK_LATE_FUNCTIONS(WICK_TEST_FUNCTIONS);

namespace {

TEST(LateFunctions, PassArgumentsAndResultsOn) {
  EXPECT_EQ(wick_slot_jn, nullptr);
  SharedLibrary library("libm.so.6");
  WICK_FIND_FUNCTIONS(library, WICK_TEST_FUNCTIONS)
  ASSERT_TRUE(library.check("no_libm", ""));
  EXPECT_NE(wick_slot_jn, wick_slot_drem);
  const volatile int two = 2;  // so that the compiler computes nothing
  const volatile double one = 1, seven = 7, four = 4;
  EXPECT_NEAR(::jn(two, one), 0.11490348493190048, 1e-15);
  EXPECT_EQ(::drem(seven, four), -1);
}

}  // namespace
}  // namespace wick
