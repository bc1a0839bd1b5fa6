// Judged by nlohmann's JSON parser: what the recognizer accepts is a JSON string whose parsed
// content is in the language, whatever escapes it is written with, and no live state is without an
// end.
#include "grammar/json_string.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "regex/ecma.h"

namespace wick::grammar {
namespace {

std::unique_ptr<JsonString> json_string(const char* pattern, regex::Automaton* other = nullptr) {
  auto automaton = std::make_unique<regex::Automaton>();
  const auto content = regex::parse_ecma(automaton->pool(), pattern);
  EXPECT_TRUE(content) << pattern;
  if (other != nullptr) *other = *automaton;
  return *JsonString::make(std::move(automaton), *content);
}

StateId walk(JsonString& string, std::string_view text) {
  string.begin(10'000'000);
  StateId state = string.start();
  for (const char c : text) {
    state = string.step(state, static_cast<unsigned char>(c));
  }
  return state;
}

bool accepts(JsonString& string, std::string_view text) {
  return string.accepts(walk(string, text));
}

TEST(JsonString, EverySpellingOfACharacterIsTheCharacter) {
  const auto string = json_string("^[é\\n/\"\\u{1F600}]$");
  for (const char* text : {"\"é\"", "\"\\u00e9\"", "\"\\u00E9\"", "\"\\n\"", "\"\\u000a\"", "\"/\"",
                           "\"\\/\"", "\"\\u002F\"", "\"\\\"\"", "\"\\u0022\"", "\"😀\"",
                           "\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00\""}) {
    EXPECT_TRUE(accepts(*string, text)) << text;
  }
  for (const char* text :
       {"\"\"", "\"e\"", "\"\n\"", "\"éé\"", "\"\"\"", "\"\\ud83d\"", "é", "\"\\ude00\"",
        "\"\\ud83d\\ud83d\"", "\"\\u{e9}\"", "\"\\x0a\"", "\"é\" "}) {
    EXPECT_FALSE(accepts(*string, text)) << text;
  }
}

TEST(JsonString, LengthsCountCharacters) {
  const auto string = json_string("^[^]{2,3}$");
  EXPECT_TRUE(accepts(*string, "\"a\\ud83d\\ude00\\u00e9\""));
  EXPECT_TRUE(accepts(*string, "\"日本\""));
  EXPECT_FALSE(accepts(*string, "\"\\ud83d\\ude00\""));
  EXPECT_FALSE(accepts(*string, "\"\\t\\t\\t\\t\""));
}

TEST(JsonString, EscapesThatLeadNowhereAreDeadAtTheFirstWrongDigit) {
  const auto string = json_string("^[a\\u{1F600}]$");
  EXPECT_NE(walk(*string, "\"\\u006"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\u1"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\u007"), kDeadState);
  EXPECT_NE(walk(*string, "\"\\uD"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\uD9"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\uDC"), kDeadState);
  EXPECT_NE(walk(*string, "\"\\uD83D\\uDE0"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\uD83D\\uDE1"), kDeadState);
  EXPECT_EQ(walk(*string, "\"\\n"), kDeadState);
  EXPECT_EQ(walk(*json_string("^$"), "\"\\"), kDeadState);
}

std::vector<std::string> hex_numbers(std::size_t n_digits) {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; i < n_digits; ++i) {
    std::vector<std::string> longer;
    for (const std::string& begin : out) {
      for (const char digit : std::string_view("0123456789abcdef"))
        longer.push_back(begin + digit);
    }
    out = std::move(longer);
  }
  return out;
}

// Digits of an escape are live if and only if they can be completed to a character that may come.
TEST(JsonString, DigitsAreLiveIfSomeCharacterIs) {
  for (const char* pattern :
       {"^[^=]+=", R"(^[\x00a-f\u0fff\u8000])", R"(^[^\x80-\uffff]$)",
        R"(^[\u{1F600}-\u{1F64F}])"}) {
    const auto string = json_string(pattern);
    std::set<std::string> begins;
    for (const std::string& number : hex_numbers(4)) {
      if (walk(*string, "\"\\u" + number) == kDeadState) continue;
      for (std::size_t n = 1; n < 4; ++n)
        begins.insert(number.substr(0, n));
    }
    for (std::size_t n = 1; n < 4; ++n) {
      for (const std::string& number : hex_numbers(n))
        ASSERT_EQ(walk(*string, "\"\\u" + number) != kDeadState, begins.contains(number))
            << pattern << " " << number;
    }
  }
}

// A mask behind `\u` tries a thousand numbers of three digits.
TEST(JsonString, DigitsBeforeWhichNearlyAllMayComeTakeFewSteps) {
  const auto string = json_string("^[^=]+=");
  const StateId begun = walk(*string, R"("\u)");
  string->begin(2'000);
  for (const std::string& number : hex_numbers(3)) {
    StateId state = begun;
    for (const char digit : number)
      state = string->step(state, static_cast<unsigned char>(digit));
    EXPECT_NE(state, kFailedState) << number;
  }
}

TEST(JsonString, ForcedBytesEndAtTheFirstChoice) {
  const auto string = json_string("^(yes|yet)$");
  StateId state = string->start();
  EXPECT_EQ(*string->forced(state, 10), "\"");  // y or \u0079
  const auto empty = json_string("^$");
  state = empty->start();
  EXPECT_EQ(*empty->forced(state, 10), "\"\"");
}

TEST(JsonString, AnEmptyContentHasNoState) {
  EXPECT_EQ(json_string("^a\\bb$")->start(), kDeadState);
}

// Random walks over bytes that JSON strings are made of; each live state is asked for an end.
TEST(JsonString, AgreesWithAJsonParserOnRandomSpellings) {
  constexpr std::string_view kBytes = "\"\\u0069dDeEn83aC/tb\n\xC3\xA9\xF0\x9F\x98\x80";
  std::mt19937 random(4);
  int n_accepted = 0, n_dead = 0;
  for (const char* pattern :
       {"^[aéi\\n]{1,3}$", "^(?!.*ab)[^]*$", "^\\p{L}?\\u{1F600}*$", "u0", ""}) {
    regex::Automaton judge;
    const auto string = json_string(pattern, &judge);
    const auto content = regex::parse_ecma(judge.pool(), pattern);
    for (int round = 0; round < 4'000; ++round) {
      std::string text;
      StateId state = string->start();
      while (state != kDeadState && !string->accepts(state) && text.size() < 40) {
        // Mostly bytes that may come, now and then any.
        const char c = text.empty() ? '"' : kBytes[random() % kBytes.size()];
        string->begin(1'000'000);
        const StateId next = string->step(state, static_cast<unsigned char>(c));
        ASSERT_NE(next, kFailedState);
        if (next == kDeadState && random() % 8 != 0) continue;
        text += c;
        state = next;
      }
      const auto parsed = nlohmann::json::parse(text, nullptr, false);
      const bool is_document = parsed.is_string();
      const bool is_in = is_document && *judge.matches(*content, parsed.get<std::string>());
      ASSERT_EQ(string->accepts(state), is_in) << pattern << ": " << text;
      n_accepted += is_in;
      n_dead += state == kDeadState;
    }
  }
  EXPECT_GT(n_accepted, 1'000);
  EXPECT_GT(n_dead, 1'000);
}

// Depth-first over few bytes from each live state: one of them leads to an end.
TEST(JsonString, NearFormGoesOnAsTheStateDoes) {
  constexpr std::string_view kBytes = "\"\\u0069aDd8\xC3\xA9";
  std::mt19937 random(6);
  int n_different = 0;
  for (const char* pattern : {"^a{3,20}$", "^[aéi]{0,30}$", "^(a{4,7}|é{9})*$", "^.{12}$"}) {
    const auto string = json_string(pattern);
    for (int round = 0; round < 3'000; ++round) {
      StateId far = walk(*string, round % 3 == 0 ? "\"a" : "\"");
      const std::size_t n = 1 + random() % 8;
      string->begin(1'000'000);
      StateId near = string->near_form(far, n);
      n_different += near != far;
      for (std::size_t i = 0; i < n; ++i) {
        const auto byte = static_cast<unsigned char>(kBytes[random() % kBytes.size()]);
        const StateId next = string->step(far, byte);
        ASSERT_EQ(next == kDeadState, string->step(near, byte) == kDeadState) << pattern;
        if (next == kDeadState) continue;  // try another byte
        far = next;
        near = string->step(near, byte);
        ASSERT_EQ(string->accepts(far), string->accepts(near)) << pattern;
      }
    }
  }
  EXPECT_GT(n_different, 1'000);
}

TEST(JsonString, LiveStatesHaveAnEnd) {
  const auto string = json_string("^(a|\\u{1F600}b|\\n)$");
  std::vector<std::string> open = {"\""};
  constexpr std::string_view kBytes = "\"\\u0123456789abcdefn\xF0\x9F\x98\x80";
  int n_states = 0;
  while (!open.empty()) {
    const std::string text = open.back();
    open.pop_back();
    const StateId state = walk(*string, text);
    ASSERT_NE(state, kDeadState);
    if (string->accepts(state)) continue;
    ++n_states;
    int n_next = 0;
    for (const char c : kBytes) {
      const StateId next = string->step(state, static_cast<unsigned char>(c));
      if (next == kDeadState) continue;
      ++n_next;
      open.push_back(text + c);
    }
    ASSERT_GT(n_next, 0) << text;
  }
  EXPECT_GT(n_states, 20);
}

}  // namespace
}  // namespace wick::grammar
