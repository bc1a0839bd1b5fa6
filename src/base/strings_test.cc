#include "base/strings.h"

#include <gtest/gtest.h>

#include "base/blanks.h"

namespace wick {
namespace {

TEST(Strings, CatPrintsEachKindOfPart) {
  EXPECT_EQ(cat("a", 'b', true, 3, -4LL, 0.1, std::string("s"), std::string_view("v")),
            "abtrue3-40.1sv");
}

TEST(Strings, JsonWithALongRunOfBlanksIsRefused) {
  const std::string most(kMaxBlanks - 1, '\n');
  EXPECT_TRUE(check_blanks("[" + most + "1," + most + "2" + most + "]" + most));
  for (const std::string& more : {most + "\n", most + " \t" + most})
    EXPECT_FALSE(check_blanks("[" + most + "1" + more + "]"));
  EXPECT_FALSE(check_blanks(most + most));
}

TEST(Strings, AsciiLowerChangesTheLettersFromAToZAloneWhereverTheyStand) {
  for (std::size_t at = 0; at < 19; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(19, 'M'), wanted(19, 'm');
      text[at] = wanted[at] = static_cast<char>(byte);
      if (byte >= 'A' && byte <= 'Z') wanted[at] = static_cast<char>(byte + 32);
      ASSERT_EQ(ascii_lower(text), wanted) << byte << " at " << at;
    }
  }
  EXPECT_EQ(ascii_lower(""), "");
}

TEST(Strings, HumanBytesUsesDecimalUnits) {
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(98'400'000), "98.4 MB");
  EXPECT_EQ(human_bytes(1'234'000'000), "1.2 GB");
  EXPECT_EQ(human_bytes(999'960), "1.0 MB");
}

TEST(Strings, CompleteUtf8StopsBeforeAnUnfinishedCharacter) {
  const std::string euro = "a€";
  EXPECT_EQ(complete_utf8(euro), 4U);
  EXPECT_EQ(complete_utf8(euro.substr(0, 3)), 1U);
  EXPECT_EQ(complete_utf8(euro.substr(0, 2)), 1U);
  EXPECT_EQ(complete_utf8("\xff"), 1U);          // can never become a character
  EXPECT_EQ(complete_utf8("\xf0\x9f\x98"), 0U);  // three of four bytes
  EXPECT_EQ(complete_utf8("\xe2\x28"), 2U);      // broken, so finished
}

TEST(Strings, RepairReplacesEachMaximalInvalidPart) {
  EXPECT_EQ(repair_utf8("a\xf0\x9f"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(repair_utf8("\xff\xfe"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(repair_utf8("\xe2\x82"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace wick
