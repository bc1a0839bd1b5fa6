#include "base/late_functions.h"

#include <gtest/gtest.h>

// Of SQLite, which this test is not linked with.
extern "C" {
int sqlite3_strnicmp(const char*, const char*, int);
char* sqlite3_snprintf(int, char*, const char*, ...);
}

namespace wick {
namespace {

#define WICK_TEST_FUNCTIONS(each) each(sqlite3_strnicmp) each(sqlite3_snprintf)

}  // namespace

WICK_LATE_FUNCTIONS(WICK_TEST_FUNCTIONS);

namespace {

TEST(LateFunctions, PassArgumentsAndResultsOn) {
  SharedLibrary library("libsqlite3.so.0");
  WICK_FIND_FUNCTIONS(library, WICK_TEST_FUNCTIONS)
  ASSERT_TRUE(library.check("no_libsqlite3", ""));
  EXPECT_EQ(sqlite3_strnicmp("Wick", "wIck and more", 4), 0);
  EXPECT_NE(sqlite3_strnicmp("Wick", "wax", 4), 0);
  char text[100];  // in registers of both kinds, and on the stack
  sqlite3_snprintf(sizeof(text), text, "%d %s %.2f %d %d %d %.1f %s", 1, "two", 3.25, 4, 5, 6, 7.5,
                   "eight");
  EXPECT_STREQ(text, "1 two 3.25 4 5 6 7.5 eight");
}

}  // namespace
}  // namespace wick
