#include "text/nfc.h"

#include <gtest/gtest.h>

#include <string>

namespace wick {
namespace {

std::string nfc(std::string_view text) {
  std::string out;
  append_nfc(out, text);
  return out;
}

TEST(Nfc, ComposesAndSortsMarks) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfc("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(nfc("\u212B\uFB01"), "\u00C5\uFB01");
  EXPECT_EQ(nfc("\u0344"), "\u0308\u0301");
  EXPECT_EQ(nfc("plain \u00E9 \u02FF"), "plain \u00E9 \u02FF");
}

TEST(Nfc, KeepsBytesThatAreNotUtf8) {
  EXPECT_EQ(nfc("e\xFF\u0301 e\u0301\xC3"), "e\xFF\u0301 \u00E9\xC3");
  EXPECT_EQ(nfc("\xED\xA0\x80"), "\xED\xA0\x80");
}

TEST(Nfc, KeepsUnassignedAndPrivateCharacters) {
  EXPECT_EQ(nfc("\u0378\uE000\U0010FFFF\u0301"), "\u0378\uE000\U0010FFFF\u0301");
}

}  // namespace
}  // namespace wick
