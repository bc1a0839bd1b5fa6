// Masks within names of objects, and within strings of arrays whose items must differ, against the
// tokens that are accepted one by one: tokens that end a name or string, those that reach the next
// one, and those that spell one with escapes. All random schemas speak of the same few names in
// many ways.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "grammar/constraint.h"
#include "grammar/limits.h"
#include "grammar/schema/recognizer.h"
#include "grammar/shared_strings.h"

namespace wick::grammar {
namespace {

std::vector<std::string> name_tokens() {
  std::vector<std::string> out = {
      "a\":0", "aa\":", "\":0,\"aa\":", "\":0,\"a", "\":0,\"", "\":0}", "\":0},", "\":0},\"",
      "\":{\"a\":", "\":{\"", "\":[", "\":[]", "\":\"\",", "\":\"\",\"", "\":\"\",\"b\":",
      "\\u0061", "\\u00", "61\":", "\\u0061\":", "\\u0061\":0", "\\\"\":", "\\\"", "a\\\"\":1",
      "\xC3", "\xA9\":", "\xC3\xA9\":0", "x-", "x-a\":1", "\":true", "\":null,\"", "\" :",
      "\" : 0", "\": ", "\":\n", "_\":", "__\":0,\"_\":", "\"a\":", "\"b\":0", ",\"b\":",
      "\":1,\"b\":0}", "\":0}]", "\": 0, \"a\"", "\\n\":", "\\/\":", "a\\u0062\":0", "\":[0],\"_",
      "\":{},\"aa\"", "b\":{\"b\":0}}", "\",\"", "\", \"", "\",\"a", "\",\"a\",\"aa", "\",",
      "\",0", "a\",\"b\",", "\"],", "\"],[", "\"],[\"", "\"],[\"a", "\"]}", "\"]},{", "\"]},{\"a",
      "\"],\"b\":[\"", "[\"", "[\"a\"", "\"]", "\"\n]", "\\\",\"", "{\"a\":[\"", ",[\"a\"]",
      "\" ,"};
  for (const char c : std::string("{}[]\",: 01-atruefalsnxb_q\\u\xC3\xA9\n"))
    out.emplace_back(1, c);
  return out;
}

template <class... Choices>
std::string one_of(std::mt19937& random, const Choices&... choices) {
  const std::string all[] = {choices...};
  return all[random() % sizeof...(choices)];
}

std::string name_of(std::mt19937& random) {
  return one_of(random, "\"a\"", "\"aa\"", "\"b\"", "\"_\"", R"("\u00e9")", R"("a\"")", "\"x-a\"");
}

std::string object_schema(std::mt19937& random, int depth) {
  const auto value = [&] {
    if (depth > 0 && random() % 3 == 0) return object_schema(random, depth - 1);
    return one_of(random, "true", "false", R"({"type":"integer"})", R"({"const":0})",
                  R"({"type":"string"})", R"({"type":"array","items":{"type":"integer"}})",
                  R"({"enum":[0,"",true,null]})");
  };
  std::string out = R"({"type":"object")";
  std::string properties;
  for (std::size_t n = random() % 4; n > 0; --n)
    properties += cat(properties.empty() ? "" : ",", name_of(random), ":", value());
  if (!properties.empty()) out += cat(R"(,"properties":{)", properties, "}");
  if (random() % 4 == 0) out += cat(R"(,"required":[)", name_of(random), "]");
  switch (random() % 13) {
    case 0:
      out += cat(R"(,"patternProperties":{"^x-":)", value(), "}");
      break;
    case 12:
      out += cat(R"(,"patternProperties":{"^(.*)a$":)", value(), R"(,"a\"?$":)", value(), ",",
                 one_of(random, R"("^[a-z]*$")", R"("^(b|_|aa)$")", R"("\u00e9|^x")"), ":", value(),
                 "}");
      break;
    case 1:
      out += cat(R"(,"propertyNames":)",
                 one_of(random, R"({"maxLength":1})", R"({"pattern":"^[a-z_]+$"})",
                        R"({"enum":["a","aa","b"]})", R"({"not":{"const":"b"}})"));
      break;
    case 2:
      out += cat(R"(,"dependentRequired":{)", name_of(random), ":[", name_of(random), "]}");
      break;
    case 3:
      out += cat(R"(,"dependentSchemas":{)", name_of(random), R"(:{"properties":{)",
                 name_of(random), ":", value(), "}}}");
      break;
    case 4:
      out += cat(R"(,"minProperties":)", 1 + random() % 2, R"(,"maxProperties":2)");
      break;
    case 5:
      out += cat(R"(,"anyOf":[{"properties":{)", name_of(random), ":", value(),
                 R"(}},{"required":[)", name_of(random), "]}]");
      break;
    case 6:
      out += cat(R"(,"not":{"required":[)", name_of(random), "]}");
      break;
    default:
      break;
  }
  if (random() % 3 == 0) out += cat(R"(,"additionalProperties":)", value());
  if (random() % 8 == 0) out += R"(,"unevaluatedProperties":{"type":"integer"})";
  return out + "}";
}

// Arrays of strings whose items must differ, within arrays and objects that may have to differ,
// too.
std::string array_schema(std::mt19937& random, int depth) {
  const auto text = [&] {
    return one_of(random, R"({"type":"string"})", R"({"type":["string","integer"]})", "true",
                  R"({"type":"string","pattern":"^a*b?$"})", R"({"type":"string","maxLength":1})",
                  R"({"enum":["a","b","aa",0]})", R"({"anyOf":[{"const":"a"},{"minLength":2}]})",
                  R"({"not":{"const":"a"}})");
  };
  std::string out = cat(R"({"type":"array","items":)", text());
  if (random() % 6 != 0) out += R"(,"uniqueItems":true)";
  if (random() % 4 == 0) out += cat(R"(,"minItems":)", 1 + random() % 3);
  if (random() % 6 == 0) out += R"(,"maxItems":3)";
  if (random() % 6 == 0) out += cat(R"(,"contains":)", text());
  if (random() % 8 == 0) out += cat(R"(,"prefixItems":[)", text(), ",", text(), "]");
  out += "}";
  if (depth == 0 || random() % 2 == 0) return out;
  const std::string inner = array_schema(random, depth - 1);
  const std::string object =
      cat(R"({"type":"object","properties":{"a":)", out, R"(,"b":)", inner, R"(,"_":)", text(),
          R"(},"additionalProperties":)", random() % 2 == 0 ? "true}" : "false}");
  const std::string item = random() % 2 == 0 ? inner : object;
  return random() % 4 == 0 ? object
                           : cat(R"({"type":"array","items":)", item,
                                 random() % 2 == 0 ? R"(,"uniqueItems":true})" : "}");
}

class TextMasks {
 public:
  std::size_t check(const std::string& schema, const JsonStyle& style, std::mt19937& random) {
    auto made = SchemaRecognizer::parse(schema, style);
    if (!made) return 0;
    const auto masks = std::make_shared<TokenMasks>(*std::move(made), strings_->trie(), strings_);
    std::size_t n_pairs = 0;
    for (int round = 0; round < 6 && !testing::Test::HasFailure(); ++round) {
      Constraint constraint(masks);
      std::string text;
      for (int n = 0; n < 24; ++n) {
        const auto mask = constraint.mask();
        if (!mask) break;  // schema_fuel
        std::vector<TokenId> allowed;
        for (TokenId id = 0; id < static_cast<TokenId>(tokens_.size()); ++id, ++n_pairs) {
          const auto accepted = constraint.accept(id);
          if (!accepted) return n_pairs;
          if (*accepted) constraint.rollback(1);
          if (*accepted) allowed.push_back(id);
          EXPECT_EQ((*mask)->allows(id), *accepted)
              << schema << " behind " << text << ": " << tokens_[static_cast<std::size_t>(id)];
        }
        if (allowed.empty() || testing::Test::HasFailure()) break;
        const TokenId chosen = allowed[random() % allowed.size()];
        EXPECT_TRUE(*constraint.accept(chosen));
        text += tokens_[static_cast<std::size_t>(chosen)];
      }
    }
    return n_pairs;
  }

 private:
  std::vector<std::string> tokens_ = name_tokens();
  std::shared_ptr<SharedStrings> strings_ =
      std::make_shared<SharedStrings>(std::make_shared<TokenTrie>(TokenTrie::make(
          std::vector<std::string_view>(tokens_.begin(), tokens_.end()), {})));
};

std::size_t given_number(const char* variable, std::size_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

TEST(SchemaNames, MasksAllowWhatIsAccepted) {
  std::mt19937 random(static_cast<std::uint32_t>(given_number("WICK_TEST_SEED", 3)));
  TextMasks masks;
  const std::size_t wanted = given_number("WICK_TEST_PAIRS", 500'000);
  std::size_t n_pairs = 0;
  while (n_pairs < wanted && !HasFailure()) {
    const std::string object = object_schema(random, 2);
    const std::string schema = one_of(
        random, object, cat(R"({"type":"array","items":)", object, "}"),
        cat(R"({"type":"array","uniqueItems":true,"items":)", object, "}"),
        cat(R"({"type":"array","contains":{"required":["b"]},"items":)", object, "}"));
    n_pairs += masks.check(
        schema, {.space = JsonStyle::Space(random() % 3), .has_order = random() % 2 == 0}, random);
  }
}

TEST(SchemaItems, MasksAllowWhatIsAccepted) {
  std::mt19937 random(static_cast<std::uint32_t>(given_number("WICK_TEST_SEED", 4)));
  TextMasks masks;
  const std::size_t wanted = given_number("WICK_TEST_PAIRS", 500'000);
  std::size_t n_pairs = 0;
  while (n_pairs < wanted && !HasFailure()) {
    n_pairs += masks.check(array_schema(random, 2),
                           {.space = JsonStyle::Space(random() % 3), .has_order = true}, random);
  }
}

// 300 kinds of objects: kind i has the members "first", "own<i>", "own<i + 1>" and "last", and
// demands the first, the last or the second one. The value of "first" tells the kinds apart.
TEST(SchemaNames, AnObjectMayBeOneOfHundreds) {
  std::string kinds;
  for (int i = 0; i < 300; ++i) {
    const std::string own = cat("own", i);
    const std::string needed = i % 3 == 0 ? "first" : i % 3 == 1 ? "last" : own;
    kinds += cat(i == 0 ? "" : ",", R"({"type":"object","additionalProperties":false,)",
                 R"("properties":{"first":{"const":)", i, R"(},")", own, R"(":{},"own)", i + 1,
                 R"(":{"const":0},"last":{}},"required":[")", needed, R"("]})");
  }
  auto made = SchemaRecognizer::parse(cat(R"({"anyOf":[)", kinds, "]}"), {});
  ASSERT_TRUE(made) << made.error().message;
  Recognizer& schema = **made;
  const auto state_behind = [&](std::string_view text) {
    StateId state = schema.start();
    for (const char c : text) {
      schema.begin(kMaskFuel);
      state = schema.step(state, static_cast<unsigned char>(c));
    }
    EXPECT_NE(state, kFailedState) << text;
    return state;
  };
  EXPECT_EQ(state_behind(R"({"own0":)"), kDeadState);    // behind "first"
  EXPECT_EQ(state_behind(R"({"own300":)"), kDeadState);  // behind "own299"
  for (int i = 1; i < 300; ++i) {
    // Where i is divisible by 3, kind i has missed "first", and kind i - 1 its own name.
    EXPECT_EQ(state_behind(cat(R"({"own)", i, R"(":)")) == kDeadState, i % 3 == 0) << i;
    const std::string first = cat(R"({"first": )", i, R"(, "own)");
    EXPECT_TRUE(schema.accepts(state_behind(cat(first, i, R"(": 5, "last": 1})")))) << i;
    EXPECT_EQ(state_behind(cat(first, i + 2)), kDeadState) << i;
  }
}

// Names of at most four letters: the patterns tell no others apart, nor those behind one letter.
std::vector<std::string> short_names() {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; out[i].size() < 4; ++i) {
    for (const char c : {'a', 'b', 'c', 'z'})
      out.push_back(out[i] + c);
  }
  return out;
}

// Where a name of `names`, and its first bytes, may come behind `before`.
void check_names(SchemaRecognizer& schema, JsonMachine& judge, const std::string& before,
                 const std::vector<std::string>& names) {
  const auto is_live = [&](const std::string& text) {
    schema.begin(kMaskFuel);
    StateId state = schema.start();
    for (const char c : text)
      state = schema.step(state, static_cast<unsigned char>(c));
    EXPECT_NE(state, kFailedState) << text;
    return state != kDeadState;
  };
  std::set<std::string> begins;
  for (const std::string& name : names) {
    bool may_come = false;
    for (const char* const value : {"0", "\"\"", "true"}) {
      const std::string text = cat(before, "\"", name, "\":", value, "}");
      const auto answer = judge.accepts(text);
      ASSERT_TRUE(answer) << text;
      EXPECT_EQ(is_live(text), *answer) << text;
      may_come = may_come || *answer;
    }
    EXPECT_EQ(is_live(cat(before, "\"", name, "\"")), may_come) << before << name;
    for (std::size_t n = 0; may_come && n <= name.size(); ++n)
      begins.insert(name.substr(0, n));
  }
  for (const char* const name : {"", "a", "b", "c", "z"}) {
    EXPECT_EQ(is_live(cat(before, "\"", name)), begins.contains(name)) << before << name;
  }
}

TEST(SchemaNames, PatternsEqualBruteForce) {
  std::mt19937 random(static_cast<std::uint32_t>(given_number("WICK_TEST_SEED", 6)));
  const std::size_t n_schemas = given_number("WICK_TEST_PAIRS", 50'000) / 1'000;
  const std::vector<std::string> names = short_names();
  const auto value = [&] {
    return one_of(random, "true", "false", R"({"type":"integer"})", R"({"type":"string"})",
                  R"({"type":["integer","boolean"]})", R"({"enum":["",true]})");
  };
  const auto pattern = [&] {
    return one_of(random, R"("^(.*)a$")", R"("^.$")", R"("c$")", R"("^[ab]")", R"("a|cc")",
                  R"("^[^b]*$")", R"("^(b|ab)$")");
  };
  for (std::size_t i = 0; i < n_schemas && !HasFailure(); ++i) {
    std::string text = cat(R"({"type":"object","patternProperties":{)", pattern(), ":", value());
    for (std::size_t n = random() % 4; n > 0; --n)
      text += cat(",", pattern(), ":", value());
    text += cat(R"(},"properties":{"b":)", value(), R"(},"additionalProperties":)", value(), "}");
    SCOPED_TRACE(text);
    const JsonStyle style{.space = JsonStyle::Space::kNone, .has_order = random() % 2 == 0};
    auto made = SchemaRecognizer::parse(text, style);
    auto compiled = compile_schema(text, {});
    ASSERT_TRUE(made && compiled);
    JsonMachine judge(*std::move(compiled));
    check_names(**made, judge, "{", names);
    const std::size_t at = random() % names.size();
    const std::string first = names[at];
    const std::string begin = cat("{\"", first, "\":0");
    if (style.has_order || !*judge.accepts(begin + "}")) continue;
    std::vector<std::string> others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    check_names(**made, judge, begin + ",", others);
  }
}

// The automata of 40 patterns run side by side. To look for the names of each kind by an expression
// of all patterns takes more steps than this.
TEST(SchemaNames, ManyPatternsTakeFewSteps) {
  std::string patterns;
  for (int i = 0; i < 40; ++i)
    patterns += cat(i == 0 ? "" : ",", R"("^(.*)_part)", i, R"($":{"const":)", i, "}");
  for (const char* const others : {"true", "false"}) {
    auto made = SchemaRecognizer::parse(cat(R"({"type":"object","patternProperties":{)", patterns,
                                            R"(},"additionalProperties":)", others, "}"),
                                        {});
    ASSERT_TRUE(made);
    Recognizer& schema = **made;
    schema.begin(kMaskFuel / 10);
    const StateId begins = schema.step_all(schema.start(), "{\"");
    ASSERT_NE(begins, kFailedState);
    schema.begin(kMaskFuel);
    for (const char* const right : {"a_part7\": 7", "_part39\": 39, \"b_part0\": 0}"})
      EXPECT_NE(schema.step_all(begins, right), kDeadState) << right;
    EXPECT_EQ(schema.step_all(begins, "a_part7\": 8"), kDeadState);
    EXPECT_EQ(schema.step_all(begins, "part\": 8") == kDeadState, others == std::string("false"));
  }
}

// 400 kinds of objects: their members "body" are objects of as many kinds, and "tags" is the same
// in each, but for its place.
std::string hundreds_of_kinds() {
  std::string kinds;
  for (int i = 0; i < 400; ++i) {
    kinds += cat(i == 0 ? "" : ",", R"({"type":"object","properties":{"body":{"type":"object",)",
                 R"("properties":{"name":{"type":"string"})");
    for (int k = 0; k < 10; ++k)
      kinds += cat(R"(,"m)", i, "x", k, R"(":{"type":"string"})");
    kinds += cat(R"(},"additionalProperties":false},"tags":{"type":"array","items":)",
                 R"({"$ref":"#/$defs/tag"}},"type":{"const":"k)", i,
                 R"("}},"required":["type"],"additionalProperties":false})");
  }
  return cat(R"({"anyOf":[)", kinds,
             R"(],"$defs":{"tag":{"type":"object","required":["key"]}}})");
}

// This fuel does not do to look at each of 4,401 names.
TEST(SchemaNames, TheNamesOfHundredsOfKindsAreKnownBeforeAnObjectBegins) {
  auto made = SchemaRecognizer::parse(hundreds_of_kinds(), {});
  ASSERT_TRUE(made) << made.error().message;
  Recognizer& schema = **made;
  schema.begin(80'000);
  EXPECT_NE(schema.step_all(schema.start(), R"({"body":{"m17x)"), kDeadState);
  EXPECT_EQ(schema.step_all(schema.start(), R"({"body":{"m400)"), kDeadState);
  EXPECT_NE(schema.step_all(schema.start(), R"({"body":{"m17x)"), kFailedState);
}

TEST(SchemaNames, SchemasOfOneFormulaAreOneQuestion) {
  auto compiled = compile_schema(hundreds_of_kinds(), {.for_masks = true});
  ASSERT_TRUE(compiled) << compiled.error().message;
  JsonMachine machine(*std::move(compiled), true);
  JsonMachine::Place place = machine.start();
  for (const char c : std::string_view(R"({"tags":)"))
    place = machine.step(place, static_cast<unsigned char>(c));
  ASSERT_EQ(place.where, JsonMachine::Where::kValue);
  const auto questions = machine.list(machine.frame(place.frame).questions);
  EXPECT_EQ(questions.size(), 2U) << "the first is always yes";
}

// A second name within the token may be the one that came first.
TEST(SchemaNames, ATokenMayHoldTwoNames) {
  const std::vector<std::string> tokens = {
      "{\"", "a", "b", "\":0,\"a\":", "\":0,\"aa\":", "aa", "\":0}", "\\u0061",
      "\":0,\"\\u0061\":"};
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const auto trie = std::make_shared<TokenTrie>(TokenTrie::make(views, {}));
  auto made = SchemaRecognizer::parse(
      R"({"type":"object","additionalProperties":{"type":"integer"}})",
      {.space = JsonStyle::Space::kNone, .has_order = false});
  ASSERT_TRUE(made);
  Constraint constraint(std::make_shared<TokenMasks>(*std::move(made), trie));
  const auto allowed = [&] {
    std::vector<TokenId> out;
    for (TokenId id = 0; id < static_cast<TokenId>(tokens.size()); ++id) {
      if ((*constraint.mask())->allows(id)) out.push_back(id);
    }
    return out;
  };
  ASSERT_TRUE(*constraint.accept(0));
  EXPECT_EQ(allowed(), (std::vector<TokenId>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  ASSERT_TRUE(*constraint.accept(1));
  EXPECT_EQ(allowed(), (std::vector<TokenId>{0, 1, 2, 4, 5, 6, 7}));
  ASSERT_TRUE(*constraint.accept(7));
  EXPECT_EQ(allowed(), (std::vector<TokenId>{0, 1, 2, 3, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace wick::grammar
