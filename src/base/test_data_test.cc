#include "support/test_data.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace wick {
namespace {

TEST(TestData, AMissingModelIsAFailureThatSaysHowToGetIt) {
  const char* const before = std::getenv("WICK_TEST_MODEL");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("WICK_TEST_MODEL", "/no/such.gguf", 1);
  std::string message;
  try {
    test::default_model();
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  before == nullptr ? ::unsetenv("WICK_TEST_MODEL") : ::setenv("WICK_TEST_MODEL", kept.c_str(), 1);
  EXPECT_EQ(message,
            "this test needs /no/such.gguf, which is not there: run tools/fetch_test_data");
}

TEST(TestData, AMissingFileIsAFailureThatSaysHowToGetIt) {
  try {
    test::fetched("tokenizers/none/tokenizer.json");
    FAIL() << "there is such a file";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("tokenizers/none/tokenizer.json, which is not there: run "
                           "tools/fetch_test_data"),
              std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace wick
