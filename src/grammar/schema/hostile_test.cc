// Schemas made to cost much: each is answered or refused soon, with memory in proportion to its
// bytes. Without their bounds these take years, gigabytes or the stack, so no clock is read.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/strings.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/recognizer.h"
#include "support/hot_counters.h"

namespace wick::grammar {
namespace {

std::string answer(const std::string& schema, const std::string& text) {
  auto compiled = compile_schema(schema, {});
  if (!compiled) return compiled.error().id;
  const auto accepts = JsonMachine(*std::move(compiled)).accepts(text);
  return !accepts ? accepts.error().id : *accepts ? "accepted" : "rejected";
}

// {"$defs": {"a0": `last`, "a1": level(1, `{"$ref":"#/$defs/a0"}`), …}, "$ref": "#/$defs/a<n>", …}.
std::string chain(int n, const std::string& last,
                  const std::function<std::string(int, const std::string&)>& level,
                  const std::string& more = "") {
  std::string out = cat(R"({"$defs":{"a0":)", last);
  for (int i = 1; i <= n; ++i)
    out += cat(R"(,"a)", i, R"(":)", level(i, cat(R"({"$ref":"#/$defs/a)", i - 1, "\"}")));
  return out + cat(R"(},"$ref":"#/$defs/a)", n, "\"", more, "}");
}

TEST(HostileSchema, ReferencesPastTheDepthAreRefusedForEveryText) {
  const auto just_refers = [](int, const std::string& to) { return to; };
  const std::string schema = chain(1'499, R"({"type":"integer"})", just_refers);
  for (const char* const text : {"1", "[1]", "{\"a\":1}", "\"a\"", "null", "[1,2]"})
    EXPECT_EQ(answer(schema, text), "schema_memory") << text;
  EXPECT_EQ(answer(chain(1'000, R"({"type":"integer"})", just_refers), "1"), "accepted");
}

TEST(HostileSchema, NumbersAreJudgedOnceByEachPart) {
  const auto twice = [](int i, const std::string& to) {
    return cat(R"({"allOf":[{"anyOf":[)", to, R"(,{"multipleOf":)", 1000 + i, R"(}]},{"anyOf":[)",
               to, R"(,{"multipleOf":)", 2000 + i, "}]}]}");
  };
  EXPECT_EQ(answer(chain(64, R"({"multipleOf":1.5})", twice), "3"), "accepted");
  EXPECT_EQ(answer(chain(64, R"({"multipleOf":1.5})", twice), "4"), "rejected");
}

TEST(HostileSchema, WhatIsUnevaluatedWalksThroughABoundedNumberOfBranches) {
  struct Case {
    const char *keyword, *answer;
  };

  for (const auto& [keyword, wanted] : {Case{"allOf", "accepted"}, Case{"anyOf", "schema_keyword"},
                                        Case{"oneOf", "schema_keyword"}}) {
    const auto twice = [name = keyword](int, const std::string& to) {
      return cat("{\"", name, "\":[", to, ",", to, "]}");
    };
    for (const char* const asks : {"Properties", "Items"}) {
      const std::string more = cat(",\"unevaluated", asks, "\":false");
      EXPECT_EQ(answer(chain(60, R"({"type":"object"})", twice, more), "{}"), wanted) << keyword;
    }
  }
  const auto if_then = [](int, const std::string& to) {
    return cat(R"({"if":)", to, R"(,"then":)", to, "}");
  };
  const std::string more = R"(,"unevaluatedProperties":false)";
  EXPECT_EQ(answer(chain(60, R"({"type":"object"})", if_then, more), "{}"), "accepted");
}

TEST(HostileSchema, ALongWayThroughReferencesTakesMemoryForEachOnce) {
  const auto item = [](int, const std::string& to) { return cat(R"({"items":)", to, "}"); };
  const std::string schema = chain(5'000, R"({"type":"integer"})", item);
  test::reset_peak_bytes();
  const long before = test::live_bytes();
  EXPECT_EQ(answer(schema, "1"), "accepted");
  EXPECT_LT(test::peak_bytes() - before, 20L << 20U);  // 380 MB with a path in each schema
}

TEST(HostileSchema, MessagesNameTheOwnPlaceOfASchema) {
  const auto place = [](const char* schema) {
    return to_string(compile_schema(schema, {}).error());
  };
  EXPECT_NE(place(R"({"$defs":{"a/b~":{"not":{"type":"x"}}},"$ref":"#/$defs/a~1b~0"})")
                .find("'type' at '#/$defs/a~1b~0/not'"),
            std::string::npos);
  EXPECT_NE(place(R"({"allOf":[{"$id":"http://a.b/c","items":{"minimum":"1"}}]})")
                .find("'minimum' at '#/allOf/0/items'"),
            std::string::npos);
}

std::string times(int n, std::string_view text) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += text;
  return out;
}

// {"n0":value,"n1":value,…}.
std::string members(int n, const std::string& value) {
  std::string out = "{";
  for (int i = 0; i < n; ++i)
    out += cat(i == 0 ? "" : ",", "\"n", i, "\":", value);
  return out + "}";
}

// [part(0),part(1),…].
std::string list(int n, const std::function<std::string(int)>& part) {
  std::string out = "[";
  for (int i = 0; i < n; ++i)
    out += cat(i == 0 ? "" : ",", part(i));
  return out + "]";
}

// Before there was fuel the first of these took minutes.
TEST(HostileSchema, ADocumentEndsAtItsFuel) {
  struct Case {
    std::string schema, text;
  };

  const auto itself = [](int i) {
    return cat(R"({"properties":{"a":{"$ref":"#"},"b)", i, R"(":true}})");
  };
  const auto pattern = [](int i) {
    return cat(R"({"properties":{"a":{"pattern":"b)", i, R"(|a"}}})");
  };
  const auto multiple = [](int i) {
    return cat(R"({"properties":{"a":{"multipleOf":)", i + 1, "}}}");
  };
  const auto contains = [](int i) { return cat(R"({"contains":{"const":)", i, "}}"); };
  const Case cases[] = {
      {cat(R"({"allOf":)", list(2'000, itself), "}"),
       cat(times(2'000, R"({"a":)"), "1", times(2'000, "}"))},
      {cat(R"({"allOf":)", list(4'000, pattern), "}"),
       cat(R"({"a":")", std::string(300'000, 'a'), "\"}")},
      {cat(R"({"allOf":)", list(4'000, multiple), "}"),
       cat(R"({"a":)", std::string(300'000, '1'), "}")},
      {cat(R"({"allOf":)", list(4'000, contains), "}"), list(4'000, [](int) { return "5"; })},
  };
  for (const Case& one : cases) {
    const std::string got = answer(one.schema, one.text);
    EXPECT_TRUE(got == "schema_fuel" || got == "schema_memory" || got == "grammar_memory")
        << one.schema.substr(0, 60) << ": " << got;
  }
}

// … and these are no attacks: what a formula says of other names costs nothing.
TEST(HostileSchema, ManyNamesAreNoAttack) {
  const auto declaring = [](int n) {
    std::string out = R"({"properties":{)";
    for (int i = 0; i < n; ++i)
      out += cat(i == 0 ? "" : ",", "\"n", i, R"(":{"type":"integer"})");
    return out + "}}";
  };
  EXPECT_EQ(answer(declaring(1'500), members(1'500, "1")), "accepted");
  EXPECT_EQ(answer(declaring(1'500), members(1'500, "\"\"")), "rejected");
  EXPECT_EQ(answer(cat(R"({"items":)", declaring(400), "}"),
                   list(5'000, [](int i) { return cat(R"({"n)", i % 400, "\":1}"); })),
            "accepted");
  EXPECT_EQ(answer(R"({"additionalProperties":{"minimum":1}})", members(30'000, "1")), "accepted");
}

TEST(HostileSchema, ManyItemsAreComparedByALookUpEach) {
  const auto number = [](int i) { return std::to_string(i); };
  EXPECT_EQ(answer(R"({"uniqueItems":true})", list(40'000, number)), "accepted");
  EXPECT_EQ(answer(R"({"uniqueItems":true})", cat("[1,", list(40'000, number).substr(1))),
            "rejected");
}

// What has ended takes no memory: 55,000 items were too many, and one text took 60 bytes for each.
TEST(HostileSchema, OnlyWhatIsOpenTakesMemory) {
  const auto number = [](int i) { return std::to_string(i); };
  const std::string unique = R"({"uniqueItems":true})";
  EXPECT_EQ(answer(unique, list(150'000, number)), "accepted");
  EXPECT_EQ(answer(unique, cat("[1,", list(150'000, number).substr(1))), "rejected");
  const auto deep = [](int i) { return cat("[[", i, "],{\"a\":[", i, "]}]"); };
  EXPECT_EQ(answer(unique, list(20'000, deep)), "accepted");
  EXPECT_EQ(answer(unique, cat("[[[2],{\"a\":[2]}],", list(20'000, deep).substr(1))), "rejected");
  const auto long_text = [](int i) { return cat("\"", i, std::string(1'000, 'a'), "\""); };
  EXPECT_EQ(answer(unique, list(1'000, long_text)), "accepted");
  const std::string text(600'000, 'a');
  EXPECT_EQ(answer(unique, cat("[\"", text, "\"]")), "grammar_memory");
  EXPECT_EQ(answer("{}", cat("{\"", text, "\":1}")), "grammar_memory");
  EXPECT_EQ(answer("{}", cat("[\"", text, "\"]")), "accepted");
}

TEST(HostileSchema, ReferencesIntoALargeObjectAreFoundByHash) {
  std::string defs = R"({"$defs":{)";
  for (int i = 0; i < 20'000; ++i)
    defs += cat(i == 0 ? "" : ",", "\"a", i, R"(":true)");
  const auto refer = [](int i) { return cat(R"({"$ref":"#/$defs/a)", 19'999 - i, "\"}"); };
  EXPECT_EQ(answer(cat(defs, R"(},"allOf":)", list(20'000, refer), "}"), "1"), "accepted");
}

// "found", or the error's id.
std::string short_end(const std::string& schema) {
  auto made = SchemaRecognizer::parse(schema, {});
  if (!made) return made.error().id;
  SchemaRecognizer& recognizer = **made;
  const auto end = recognizer.shortest(recognizer.start());
  if (!end) return end.error().id;
  recognizer.begin(~std::uint64_t{0});
  StateId state = recognizer.start();
  for (const char c : *end)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return recognizer.accepts(state) ? "found" : "wrong";
}

TEST(HostileSchema, AShortEndTakesBoundedStepsAndMemory) {
  struct Case {
    std::string schema, answer;
  };

  const auto two_items = [](int, const std::string& to) {
    return cat(R"({"type":"array","minItems":2,"items":)", to, "}");
  };
  const auto two_members = [](int, const std::string& to) {
    return cat(R"({"type":"object","required":["x","y"],"properties":{"x":)", to, R"(,"y":)", to,
               "}}");
  };
  const auto one_or_other = [](int i, const std::string& to) {
    return cat(R"({"anyOf":[{"type":"object","required":["a"],"properties":{"a":)", to,
               R"(}},{"type":"array","minItems":)", i, R"(,"items":)", to, "}]}");
  };
  const auto alternative = [](int i) {
    return cat(R"({"type":"object","required":["k)", i, R"("],"properties":)",
               members(20, R"({"type":"string"})"), "}");
  };
  const Case cases[] = {
      {chain(60, R"({"type":"null"})", two_items), "no_short_end"},  // 2⁶⁰ items
      {chain(10, R"({"type":"null"})", two_members), "found"},
      {chain(60, R"({"type":"null"})", one_or_other), "found"},
      {R"({"type":"array","minItems":1000000000})", "no_short_end"},
      {R"({"type":"array","minItems":10000})", "found"},
      {R"({"type":"object","minProperties":50})", "found"},
      {cat(R"({"oneOf":)", list(8, alternative), "}"), ""},
      {cat(R"({"type":"array","minItems":1000,"prefixItems":)",
           list(1000, [](int j) { return cat(R"({"const":)", j, "}"); }), "}"),
       ""},
  };
  for (const auto& [schema, wanted] : cases) {
    test::reset_peak_bytes();
    const long before = test::live_bytes();
    const std::string found = short_end(schema);
    EXPECT_LT(test::peak_bytes() - before, 32L << 20U) << schema.substr(0, 100);
    EXPECT_EQ(found, wanted.empty() ? found : wanted) << schema.substr(0, 100);
    EXPECT_NE(found, "wrong") << schema.substr(0, 100);
  }
}

// More members than fit in a document are refused without a search for so many names.
TEST(HostileSchema, ACountOfMembersThatNoShortEndHasIsSeenAtOnce) {
  const auto with = [](const char* count) {
    return cat(R"({"type":"object","patternProperties":{"a":{"type":"integer"},"b":)",
               R"({"type":"string"},"^c{1,30}$":{}},"minProperties":)", count, "}");
  };
  EXPECT_EQ(short_end(with("40")), "found");
  const long before = test::given_bytes();
  EXPECT_EQ(short_end(with("1234567890123456789012345678")), "no_short_end");
  EXPECT_LT(test::given_bytes() - before, 4L << 20U);
}

// The values of an enum are found once, not for each item that is demanded.
TEST(HostileSchema, DistinctItemsOfALargeEnumAreFoundOnce) {
  const auto number = [](int i) { return std::to_string(i); };
  const auto of = [&](int n_demanded, int n_values, int n_most = 500) {
    return cat(R"({"type":"array","uniqueItems":true,"minItems":)", n_demanded, R"(,"maxItems":)",
               n_most, R"(,"items":{"enum":)", list(n_values, number), "}}");
  };
  const auto start = [](const std::string& schema) {
    auto made = SchemaRecognizer::parse(schema, {});
    return !made ? made.error().id : (*made)->start() == kDeadState ? "dead" : "live";
  };
  const long before = test::given_bytes();
  EXPECT_EQ(start(of(30, 40)), "live");
  EXPECT_LT(test::given_bytes() - before, 64L << 20U);  // 180 MB, item by item
  EXPECT_EQ(start(of(41, 40)), "dead");
  EXPECT_EQ(start(of(30, 40, 29)), "dead");
  EXPECT_EQ(start(of(300, 400)), "live");
}

}  // namespace
}  // namespace wick::grammar
