#include "unicode/normal_forms.h"

#include <gtest/gtest.h>

#include <string>

namespace wick {
namespace {

std::string nfc(std::string_view text) {
  std::string out;
  NfcScratch scratch;
  append_form(out, text, UnicodeForm::kNfc, scratch);
  return out;
}

std::string nfkc(std::string_view text) {
  std::string out;
  NfcScratch scratch;
  append_form(out, text, UnicodeForm::kNfkc, scratch);
  return out;
}

TEST(Nfc, KeepsTheJamoBeforeTheTrailingOnes) {
  EXPECT_EQ(nfkc("\uAC00\u11A7\uAC00\u11A8"), "\uAC00\u11A7\uAC01");
  EXPECT_EQ(nfc("\u1100\u1161\u11A7\u0301"), "\uAC00\u11A7\u0301");
}

TEST(Nfc, ComposesAndSortsMarks) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfc("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(nfc("\u212B\uFB01"), "\u00C5\uFB01");
  EXPECT_EQ(nfc("\u0344"), "\u0308\u0301");
  EXPECT_EQ(nfc("plain \u00E9 \u02FF"), "plain \u00E9 \u02FF");
}

// As Hugging Face's library does: its tables are those of Unicode 9.
TEST(Nfc, LeavesMarksAloneThatCameAfterUnicode9) {
  EXPECT_EQ(nfc("a\u0650\U00011D45\u0301"), "a\u0650\U00011D45\u0301");
  EXPECT_EQ(nfc("a\u08D3\u0334"), "a\u08D3\u0334");
  EXPECT_EQ(nfc("\U00011935\U00011930"), "\U00011935\U00011930");
  EXPECT_EQ(nfc("e\u0301\u0898e\u0301"), "\u00E9\u0898\u00E9");
}

TEST(Nfc, ChangesOnlyWhereItMust) {
  EXPECT_EQ(nfc("日本語e\u0301中文\u304B\u3099"), "日本語\u00E9中文\u304C");
  EXPECT_EQ(nfc("\u0301e\u0301"), "\u0301\u00E9");
  EXPECT_EQ(nfc("日\u0301\u0316x"), "日\u0316\u0301x");
  std::string marks = "a";
  for (int i = 0; i < 100; ++i) {
    marks += "\u0301\u0316";
  }
  std::string sorted = "\u00E1";
  for (int i = 0; i < 100; ++i) {
    sorted.insert(2, "\u0316");
  }
  for (int i = 1; i < 100; ++i) {
    sorted += "\u0301";
  }
  EXPECT_EQ(nfc(marks), sorted);
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
