#include "grammar/notation.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "grammar/limits.h"
#include "grammar/schema/recognizer.h"

namespace wick::grammar {
namespace {

NotationRecognizer in_notation(const char* schema, std::unique_ptr<Notation> notation) {
  return {*SchemaRecognizer::parse(schema, {}), std::move(notation)};
}

StateId read_notation(Recognizer& recognizer, std::string_view text) {
  recognizer.begin(kMaskFuel);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

// Each beginning of a text of the language has a short end that completes it.
void check_ends(Recognizer& recognizer, std::string_view text) {
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const StateId state = read_notation(recognizer, text.substr(0, n));
    ASSERT_NE(state, kDeadState) << text.substr(0, n);
    const auto end = recognizer.shortest(state);
    ASSERT_TRUE(end) << text.substr(0, n);
    const std::string whole = std::string(text.substr(0, n)) + *end;
    EXPECT_TRUE(recognizer.accepts(read_notation(recognizer, whole))) << whole;
  }
  EXPECT_TRUE(recognizer.accepts(read_notation(recognizer, text))) << text;
}

TEST(Notation, RawTextIsHeldToAStringSchema) {
  auto some = in_notation(R"({"type": "string", "maxLength": 6})", raw_text("</v>"));
  for (const char* const good : {"", "a\"\\\n", "é</v", "</</"})
    check_ends(some, good);
  for (const char* const bad : {"1234567", "a</v>"})
    EXPECT_EQ(read_notation(some, bad), kDeadState) << bad;
  auto choice = in_notation(R"({"enum": ["north", "so\"uth", 7]})", raw_text("<"));
  check_ends(choice, "so\"uth");
  EXPECT_EQ(read_notation(choice, "7"), kDeadState);
}

TEST(Notation, PythonValues) {
  auto some = in_notation("true", python_value());
  for (const char* const good :
       {"True", "False", "None", "[True, None, \"true\\\"\", {\"null\": [False, 1]}]"})
    check_ends(some, good);
  for (const char* const bad : {"true", "null", "[fa", "Nu"})
    EXPECT_EQ(read_notation(some, bad), kDeadState) << bad;
}

const char* const kTrip = R"({"type": "object", "properties": {"city": {"type": "string"},
  "days": {"type": "array", "items": {"type": "integer"}}, "place": {"type": "object",
  "properties": {"x": {"type": ["boolean", "null"]}}, "additionalProperties": false}},
  "additionalProperties": false, "required": ["city"]})";

TEST(Notation, GemmasObjects) {
  for (const char* const quote : {"<|\"|>", "\xFF[9]"}) {
    const std::string q = quote;
    auto some = in_notation(kTrip, gemma_object(q));
    check_ends(some, "{city:" + q + "Ro\"me\n" + q + ",days:[1,-2],place:{x:null}}");
    check_ends(some, "{city:" + q + q + "}");
    for (const std::string& bad :
         {std::string("{days:"), std::string("{city:1"), "{city:" + q + "a" + q + ",days:[true"})
      EXPECT_EQ(read_notation(some, bad), kDeadState) << bad;
  }
}

}  // namespace
}  // namespace wick::grammar
