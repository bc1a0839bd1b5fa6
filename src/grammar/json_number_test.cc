// Bounds against integer arithmetic: values with up to three digits behind the point, times 1000.
#include "grammar/json_number.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "regex/automaton.h"

namespace wick::grammar {
namespace {

struct Spelled {
  std::string text;
  long thousandths;
};

Spelled random_number(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<long>(random() % n); };
  static constexpr unsigned kSizes[] = {2, 12, 120, 1200};
  const long whole = below(kSizes[below(4)]);
  const bool is_negative = below(2) == 0;
  std::string text = (is_negative ? "-" : "") + std::to_string(whole);
  long value = whole * 1000, unit = 100;
  const long n_digits = below(4);
  if (n_digits > 0) text += '.';
  for (long i = 0; i < n_digits; ++i, unit /= 10) {
    const long digit = below(3) == 0 ? 0 : below(10);
    text += static_cast<char>('0' + digit);
    value += digit * unit;
  }
  return {text, is_negative ? -value : value};
}

TEST(JsonNumber, BoundsCompareByValue) {
  std::mt19937 random(8);
  int n_inside = 0, n_outside = 0;
  for (int round = 0; round < 1'500; ++round) {
    const Spelled low = random_number(random), high = random_number(random);
    const bool has_low = random() % 4 != 0, has_high = random() % 4 != 0;
    const bool low_exclusive = random() % 2 == 0, high_exclusive = random() % 2 == 0;
    NumberRange range{.is_integer = random() % 3 == 0};
    if (has_low) range.low = NumberBound{low.text, low_exclusive};
    if (has_high) range.high = NumberBound{high.text, high_exclusive};
    regex::Automaton automaton;
    const auto language = json_number(automaton.pool(), range);
    ASSERT_TRUE(language) << language.error().message;
    for (int i = 0; i < 60; ++i) {
      Spelled x = i == 0 ? low : i == 1 ? high : random_number(random);
      if (i < 2 && x.text.find('.') != std::string::npos) x.text += "00";
      bool is_in = !range.is_integer || x.thousandths % 1000 == 0;
      if (has_low)
        is_in &= low_exclusive ? x.thousandths > low.thousandths : x.thousandths >= low.thousandths;
      if (has_high)
        is_in &=
            high_exclusive ? x.thousandths < high.thousandths : x.thousandths <= high.thousandths;
      const auto found = automaton.matches(*language, x.text);
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_EQ(*found, is_in) << x.text << " in " << (has_low ? low.text : "")
                               << (low_exclusive ? " <" : " <=") << " x"
                               << (high_exclusive ? " < " : " <= ") << (has_high ? high.text : "")
                               << (range.is_integer ? ", an integer" : "");
      (is_in ? n_inside : n_outside)++;
    }
    // Emptiness by value: over thousandths a range without a whole number may still hold fractions.
    if (has_low && has_high && low.thousandths > high.thousandths) {
      EXPECT_TRUE(*automaton.is_empty(*language)) << low.text << " to " << high.text;
    }
  }
  EXPECT_GT(n_inside, 10'000);
  EXPECT_GT(n_outside, 10'000);
}

bool has(const NumberRange& range, const std::string& text) {
  regex::Automaton automaton;
  const auto language = json_number(automaton.pool(), range);
  EXPECT_TRUE(language) << language.error().message;
  return *automaton.matches(*language, text);
}

TEST(JsonNumber, WithoutBoundsHasEverySpelling) {
  for (const char* text : {"0", "-0", "12", "-3.25", "1e5", "1E+5", "0.5e-10", "10.00"}) {
    EXPECT_TRUE(has({}, text)) << text;
  }
  for (const char* text : {"", "-", "01", "1.", ".5", "+1", "1e", "0x1", "NaN", "1.5.5", "--1"}) {
    EXPECT_FALSE(has({}, text)) << text;
  }
}

TEST(JsonNumber, IntegersMayEndInZeros) {
  for (const char* text : {"0", "-12", "7.0", "-0.000"}) {
    EXPECT_TRUE(has({.is_integer = true}, text)) << text;
  }
  EXPECT_FALSE(has({.is_integer = true}, "7.5"));
  EXPECT_FALSE(has({.is_integer = true}, "007"));
  EXPECT_FALSE(has({.is_integer = true, .may_end_in_zeros = false}, "7.0"));
  EXPECT_TRUE(has({.is_integer = true, .may_end_in_zeros = false}, "7"));
}

TEST(JsonNumber, BoundsHaveAllTheirDigits) {
  const NumberRange wide{.low = NumberBound{"9007199254740993", false}};  // 2^53 + 1
  EXPECT_TRUE(has(wide, "9007199254740993"));
  EXPECT_FALSE(has(wide, "9007199254740992"));
  const NumberRange small{.low = NumberBound{"1e-3", true}, .high = NumberBound{"1.5E2", false}};
  EXPECT_TRUE(has(small, "0.0010000000000000000000000000001"));
  EXPECT_FALSE(has(small, "0.0010"));
  EXPECT_TRUE(has(small, "150.0"));
  EXPECT_FALSE(has(small, "150.01"));
  EXPECT_TRUE(has({.high = NumberBound{"0e999999", false}}, "-0.0"));
}

TEST(JsonNumber, EqualIsByValue) {
  regex::Automaton automaton;
  const auto language = json_number_equal(automaton.pool(), "1.50");
  for (const char* text : {"1.5", "1.50", "1.500000"}) {
    EXPECT_TRUE(*automaton.matches(*language, text)) << text;
  }
  for (const char* text : {"1.05", "1", "15", "-1.5", "1.51"}) {
    EXPECT_FALSE(*automaton.matches(*language, text)) << text;
  }
  const auto zero = json_number_equal(automaton.pool(), "-0.0");
  EXPECT_TRUE(*automaton.matches(*zero, "0"));
  EXPECT_TRUE(*automaton.matches(*zero, "-0.00"));
}

TEST(HostileJsonNumber, RefusesWhatIsNoNumberOrTooLong) {
  regex::ExprPool pool;
  for (const char* text : {"", "-", "1.", "01", "abc", "1e", "1 ", "0x10", "1e5x"}) {
    const auto refused = json_number(pool, {.low = NumberBound{text, false}});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
  for (const char* text : {"1e401", "1e-401", "1e99999999999999999999", "-1e-99999999999"}) {
    const auto refused = json_number(pool, {.low = NumberBound{text, false}});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_FALSE(json_number(pool, {.low = NumberBound{std::string(100'000, '7'), false}}));
  EXPECT_TRUE(json_number(pool, {.low = NumberBound{"1e308", false}}));
}

}  // namespace
}  // namespace wick::grammar
