#include "base/shared_library.h"

#include <gtest/gtest.h>

namespace wick {
namespace {

#ifdef __APPLE__
constexpr const char* kSystem = "libSystem.dylib";
#else
constexpr const char* kSystem = "libc.so.6";
#endif

TEST(SharedLibrary, FindsFunctionsAndNamesTheFirstThatIsMissing) {
  SharedLibrary library(kSystem);
  int (*absolute)(int) = nullptr;
  void (*missing)() = nullptr;
  library.find("abs", absolute);
  ASSERT_TRUE(library.check("no_libc", ""));
  EXPECT_EQ(absolute(-3), 3);
  library.find("no_function_of_this_name", missing);
  library.find("none_of_this_one", missing);
  EXPECT_EQ(missing, nullptr);
  const Error error = library.check("no_libc", "install it").error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(error.id, "no_libc");
  EXPECT_EQ(error.message,
            cat("libc cannot be loaded: ", kSystem, " has no no_function_of_this_name"));
  EXPECT_EQ(error.hint, "install it");
}

TEST(SharedLibrary, SaysThatItIsNotInstalled) {
  SharedLibrary library("libno_library_of_this_name.so");
  void (*function)() = nullptr;
  library.find("abs", function);
  EXPECT_EQ(function, nullptr);
  const Error error = library.check("no_library", "").error();
  EXPECT_NE(error.message.find("libno_library_of_this_name.so"), std::string::npos);
}

}  // namespace
}  // namespace wick
