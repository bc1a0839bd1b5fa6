// uniqueItems in masks against brute force: arrays over a few values, whose documents are all
// listed. A text may go on if and only if a document that fits begins with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "grammar/constraint.h"
#include "grammar/limits.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/recognizer.h"

namespace wick::grammar {
namespace {

constexpr JsonStyle kNoSpace = {.space = JsonStyle::Space::kNone};

std::unique_ptr<SchemaRecognizer> masks_of(const std::string& schema) {
  auto made = SchemaRecognizer::parse(schema, kNoSpace);
  EXPECT_TRUE(made) << schema << ": " << (made ? "" : to_string(made.error()));
  return made ? *std::move(made) : nullptr;
}

StateId state_after(SchemaRecognizer& recognizer, std::string_view text) {
  recognizer.begin(kMaskFuel);
  return recognizer.step_all(recognizer.start(), text);
}

const std::vector<std::string> kValues = {"1", "2", "\"a\"", "null", "[1]", R"({"k":1})"};

std::string some_values(std::mt19937& random, std::size_t most) {
  std::string out;
  const std::size_t n = 1 + random() % most;
  for (std::size_t i = 0; i < n; ++i)
    out += cat(i == 0 ? "" : ",", kValues[random() % 4]);
  return cat(R"({"enum":[)", out, "]}");
}

std::string unique_array(std::mt19937& random) {
  std::string out =
      cat(R"({"type":"array","uniqueItems":true,"maxItems":4,"minItems":)", random() % 5);
  if (random() % 3 == 0)
    out += cat(R"(,"prefixItems":[)", some_values(random, 2), ",", some_values(random, 3), "]");
  if (random() % 3 == 0) out += cat(R"(,"contains":)", some_values(random, 2));
  if (random() % 4 == 0) out += R"(,"minContains":2)";
  out += R"(,"items":)";
  if (random() % 3 != 0) return out + some_values(random, 4) + "}";
  return out + R"({"enum":[1,"a",2,null]}})";
}

std::string unique_schema(std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return cat(R"({"anyOf":[)", unique_array(random), ",", unique_array(random), "]}");
    case 1:
      return cat(R"({"oneOf":[)", unique_array(random), ",", unique_array(random), "]}");
    case 2:
      return cat(R"({"allOf":[)", unique_array(random), R"(,{"not":)", unique_array(random), "}]}");
    default:
      return unique_array(random);
  }
}

std::vector<std::string> all_arrays() {
  std::vector<std::string> level = {""}, out = {"[]"};
  for (int n = 1; n <= 4; ++n) {
    std::vector<std::string> longer;
    for (const std::string& before : level) {
      for (const std::string& value : kValues) {
        longer.push_back(cat(before, before.empty() ? "" : ",", value));
        out.push_back(cat("[", longer.back(), "]"));
      }
    }
    level = std::move(longer);
  }
  return out;
}

TEST(SchemaUniqueItems, EqualsBruteForce) {
  std::mt19937 random(5);
  const std::vector<std::string> arrays = all_arrays();
  int n_unknown = 0, n_refused = 0;
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    const std::string schema = unique_schema(random);
    JsonMachine judge(*compile_schema(schema, {}));
    std::set<std::string, std::less<>> live;
    for (const std::string& text : arrays) {
      if (!*judge.accepts(text)) continue;
      for (std::size_t n = 0; n <= text.size(); ++n)
        live.insert(text.substr(0, n));
    }
    auto made = SchemaRecognizer::parse(schema, kNoSpace);
    if (!made) {
      EXPECT_EQ(made.error().id, "schema_fuel") << schema;
      ++n_refused;
      continue;
    }
    for (int k = 0; k < 150; ++k) {
      const std::string& text = arrays[random() % arrays.size()];
      for (std::size_t n = 0; n <= text.size(); ++n) {
        const std::string part = text.substr(0, n);
        const StateId state = state_after(**made, part);
        if (state == kFailedState) {
          ++n_unknown;
          break;
        }
        EXPECT_EQ(state != kDeadState, live.contains(part)) << schema << " on " << part;
        if (state == kDeadState || testing::Test::HasFailure()) break;
      }
    }
  }
  std::printf("%d schemas refused, %d texts not settled\n", n_refused, n_unknown);
  EXPECT_LE(n_refused, 3);
  EXPECT_LE(n_unknown, 150);
}

TEST(SchemaUniqueItems, TellsValuesApartAsJsonSchemaDoes) {
  const auto recognizer = masks_of(R"({"type":"array","uniqueItems":true})");
  for (const char* const good : {"[1,true,\"1\",[1],{\"a\":1}]", "[[1,2],[2,1]]",
                                 R"([{"a":1},{"a":2},{"b":1},{}])", "[0,false,null,\"\"]"}) {
    EXPECT_TRUE(recognizer->accepts(state_after(*recognizer, good))) << good;
  }
  for (const char* const bad : {"[1,1.0]", "[0,-0]", "[\"a\",\"\\u0061\"]", "[[1],[1.00]]",
                                R"([{"a":1,"b":2},{"b":2,"a":1}])", "[true,1,true]", "[{},{}]"}) {
    EXPECT_FALSE(recognizer->accepts(state_after(*recognizer, bad))) << bad;
  }
}

// The second value is dead as soon as it can only become the first.
TEST(SchemaUniqueItems, ForcesWhatIsLeft) {
  const auto recognizer = masks_of(
      R"({"type":"array","uniqueItems":true,"minItems":3,
          "items":{"enum":["red","green","blue"]}})");
  EXPECT_EQ(state_after(*recognizer, R"(["red","r)"), kDeadState);
  StateId state = state_after(*recognizer, R"(["red","blue",)");
  const auto forced = recognizer->forced(state, 100);
  ASSERT_TRUE(forced);
  EXPECT_EQ(*forced, "\"");  // each letter has escapes
  EXPECT_EQ(state_after(*recognizer, R"(["red","blue","b)"), kDeadState);
  EXPECT_TRUE(recognizer->accepts(state_after(*recognizer, R"(["red","blue","green"])")));
  EXPECT_FALSE(recognizer->accepts(state_after(*recognizer, R"(["red","blue"])")));
  const auto too_many = SchemaRecognizer::parse(
      R"({"type":"array","uniqueItems":true,"minItems":4,"maxItems":4,
          "items":{"enum":["a","b","c",1.0,1]}})",
      kNoSpace);
  ASSERT_TRUE(too_many);
  EXPECT_NE((*too_many)->start(), kDeadState);
  const auto none = SchemaRecognizer::parse(
      R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"boolean"}})", kNoSpace);
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)->start(), kDeadState);
}

TEST(SchemaUniqueItems, HasShortEnds) {
  for (const char* const schema :
       {R"({"type":"array","uniqueItems":true,"minItems":3})",
        R"({"type":"array","uniqueItems":true,"minItems":12,"items":{"type":"integer"}})",
        R"({"type":"array","uniqueItems":true,"minItems":3,
          "items":{"enum":["red","green","blue"]}})",
        R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object"}})",
        R"({"type":"array","uniqueItems":true,"minItems":3,
            "items":{"type":"object","required":["id"],
            "properties":{"id":{"type":"string"}},"additionalProperties":false}})",
        R"({"type":"array","uniqueItems":true,"minItems":2,
            "prefixItems":[{"const":1},{"enum":[1,2]}],"items":false})",
        R"({"type":"array","uniqueItems":true,"minItems":3,"contains":{"const":"abc"}})"}) {
    const auto recognizer = masks_of(schema);
    const auto end = recognizer->shortest(recognizer->start());
    ASSERT_TRUE(end) << schema << ": " << to_string(end.error());
    EXPECT_TRUE(recognizer->accepts(state_after(*recognizer, *end))) << schema << ": " << *end;
    EXPECT_LT(end->size(), 80U) << schema << ": " << *end;
  }
}

// Closed objects of one member: each that came rules out a value.
TEST(SchemaUniqueItems, ManyItemsAreCheap) {
  for (const auto& [schema, item] : std::vector<std::pair<std::string, std::string>>{
           {R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})", "\"a%\""},
           {R"({"type":"array","uniqueItems":true,"items":{"type":"integer"}})", "1%"},
           {R"({"type":"array","uniqueItems":true,"items":{"type":"object","required":["id"],
                "properties":{"id":{"type":"string"}},"additionalProperties":false}})",
            R"({"id":"a%"})"},
           {R"({"type":"array","uniqueItems":true,"items":{"type":"object",
                "properties":{"id":{"type":"string"}}}})",
            R"({"id":"a%"})"}}) {
    const auto recognizer = masks_of(schema);
    std::string text = "[";
    for (int i = 0; i < 100; ++i) {
      std::string its = item;
      its.replace(its.find('%'), 1, std::to_string(i));
      text += cat(i == 0 ? "" : ",", its);
    }
    StateId state = recognizer->start();
    for (const char c : text + "]") {
      recognizer->begin(kMaskFuel);
      state = recognizer->step(state, static_cast<unsigned char>(c));
    }
    ASSERT_NE(state, kFailedState) << schema << ": " << to_string(recognizer->failure());
    EXPECT_TRUE(recognizer->accepts(state)) << schema;
  }
}

// Each token that ends an item makes a value; those of a walk over the vocabulary are dropped.
TEST(SchemaUniqueItems, AWalkLeavesNothingOfItsValues) {
  const auto recognizer =
      masks_of(R"({"items":{"additionalProperties":{"type":"string"}},"uniqueItems":true})");
  const StateId from = state_after(*recognizer, R"([{"a":"b","b":")");
  std::size_t n_bytes = 0;
  for (int i = 0; i < 3'000; ++i) {
    recognizer->begin(kMaskFuel);
    recognizer->begin_walk();
    StateId state = from;
    for (const char c : cat(i, "\"}"))
      state = recognizer->step(state, static_cast<unsigned char>(c));
    ASSERT_NE(state, kFailedState);
    ASSERT_NE(state, kDeadState);
    recognizer->end_walk();
    if (i == 0) n_bytes = recognizer->used_bytes();
  }
  EXPECT_EQ(recognizer->used_bytes(), n_bytes);
}

}  // namespace
}  // namespace wick::grammar
