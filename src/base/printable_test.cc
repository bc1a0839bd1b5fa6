#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "base/strings.h"

namespace wick {
namespace {

static_assert(!std::is_convertible_v<std::string, Printable>);
static_assert(!std::is_convertible_v<const char*, Printable>);

TEST(Printable, OneLineEscapesControlAndInvalidBytes) {
  EXPECT_EQ(printable("a\x1b[31m\xff\xc2\x9bé\n\t\x7f").view(),
            "a\\x1B[31m\\xFF\\u009Bé\\x0A\\x09\\x7F");
  EXPECT_EQ(printable("\xe2\x82").view(), "\\xE2\\x82");
  EXPECT_EQ(printable("abcdef", 3).view(), "abc…");
  EXPECT_EQ(printable("日本語 🙂 ñ ❤️").view(), "日本語 🙂 ñ ❤️");
}

TEST(Printable, WhatReversesOrHidesTextIsEscaped) {
  for (const char32_t code :
       {0x80U,   0x9FU,   0xADU,   0x61CU,  0x180EU, 0x200BU, 0x200CU, 0x200DU,  0x200EU,
        0x200FU, 0x2028U, 0x2029U, 0x202AU, 0x202BU, 0x202CU, 0x202DU, 0x202EU,  0x2060U,
        0x2066U, 0x2067U, 0x2068U, 0x2069U, 0x3164U, 0xFEFFU, 0xFFF9U, 0xE0001U, 0xE0041U,
        0xA0U,   0x1680U, 0x2000U, 0x2003U, 0x200AU, 0x202FU, 0x205FU, 0x2800U,  0x3000U}) {
    std::string text;
    append_utf8(text, code);
    const Printable shown = printable(text);
    EXPECT_TRUE(shown.view().starts_with("\\")) << std::hex << unsigned{code};
    EXPECT_EQ(printable_lines(text).view(), shown.view());
  }
  EXPECT_EQ(printable("gpt\u202Efgp.exe").view(), "gpt\\u202Efgp.exe");
  EXPECT_EQ(printable("\U000E0041").view(), "\\U000E0041");
}

TEST(Printable, AnAnswerKeepsWhatItsLanguageNeedsAndNoControlCharacter) {
  EXPECT_EQ(printable_answer("👩‍👩‍👧 می‌خواهم\n\tx").view(),
            "👩‍👩‍👧 می‌خواهم\n\tx");
  EXPECT_EQ(printable_answer("\x1b]0;t\x07\xc2\x9b"
                             "2J\r\x08\xff")
                .view(),
            "\\x1B]0;t\\x07\\u009B2J\\x0D\\x08\\xFF");
}

TEST(Printable, TwiceIsOnce) {
  const std::string once = printable("\x1b\xc2\x9b\u202E\xff\\");
  EXPECT_EQ(printable(once).view(), once);
}

TEST(Printable, JsonAndTomlMeanTheSameText) {
  EXPECT_EQ(printable_json("{\"a\":\"é\xc2\x9b\x7f\u202E\U000E0041\xff\xe2\x82\"}\n").view(),
            "{\"a\":\"é\\u009b\\u007f\\u202e\\udb40\\udc41\xEF\xBF\xBD\xEF\xBF\xBD\"}\n");
  EXPECT_EQ(printable_toml("é\"\\\n\x1b\x7f\xc2\x9b\u202E\U000E0041").view(),
            "é\\\"\\\\\\n\\u001b\\u007f\\u009b\\u202e\\U000e0041");
}

}  // namespace
}  // namespace wick
