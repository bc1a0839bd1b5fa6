#include "cli/line_diff.h"

#include <gtest/gtest.h>

#include <random>

namespace wick {
namespace {

using Lines = std::vector<std::string>;

TEST(LineDiff, KeepsWhatIsCommonAndNamesTheRest) {
  EXPECT_EQ(line_diff("a\nb\nc\n", "a\nx\nc\n"), (Lines{" a\n", "-b\n", "+x\n", " c\n"}));
  EXPECT_EQ(line_diff("a\nb\n", "b\n"), (Lines{"-a\n", " b\n"}));
  EXPECT_EQ(line_diff("", ""), Lines{});
}

TEST(LineDiff, SeesAMissingLineFeed) {
  EXPECT_EQ(line_diff("a", "a\n"), (Lines{"-a", "+a\n"}));
}

TEST(LineDiff, GivesBothTextsBackForRandomLines) {
  std::mt19937 random(1);
  for (int n = 0; n < 500; ++n) {
    std::string a;
    std::string b;
    for (auto i = random() % 12; i > 0; --i)
      a += std::string(1, static_cast<char>('a' + random() % 3)) + "\n";
    for (auto i = random() % 12; i > 0; --i)
      b += std::string(1, static_cast<char>('a' + random() % 3)) + "\n";
    std::string from_a;
    std::string from_b;
    for (const std::string& line : line_diff(a, b)) {
      if (line[0] != '+') from_a += line.substr(1);
      if (line[0] != '-') from_b += line.substr(1);
    }
    EXPECT_EQ(from_a, a);
    EXPECT_EQ(from_b, b);
  }
}

}  // namespace
}  // namespace wick
