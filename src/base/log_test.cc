#include "base/log.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace wick {
namespace {

struct LogTest : testing::Test {
  ~LogTest() override { set_log({}); }

  std::vector<std::string> lines = {};
};

TEST_F(LogTest, ASinkHearsLevelAndALineWithoutControlCharacters) {
  log_message(LogLevel::kWarning, "nobody is told");
  set_log([this](LogLevel level, std::string_view message) {
    lines.push_back(std::string(name(level)) + ": " + std::string(message));
  });
  log_message(LogLevel::kWarning, "the device \x1b[2J does not start");
  log_message(LogLevel::kInfo, "loaded");
  set_log({});
  log_message(LogLevel::kInfo, "nobody is told any more");
  EXPECT_EQ(lines, (std::vector<std::string>{"warning: the device \\x1B[2J does not start",
                                             "info: loaded"}));
}

TEST_F(LogTest, ASinkMayThrowLogAndReplaceItself) {
  set_log([this](LogLevel, std::string_view message) {
    lines.emplace_back(message);
    log_message(LogLevel::kInfo, "from inside");
    set_log(
        [this](LogLevel, std::string_view later) { lines.push_back("2 " + std::string(later)); });
    throw std::runtime_error("of the sink's own");
  });
  log_message(LogLevel::kInfo, "a");
  log_message(LogLevel::kInfo, "b");
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "2 b"}));
}

}  // namespace
}  // namespace wick
