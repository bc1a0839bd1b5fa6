// Masks that leave out the walk over plain tokens, against steps byte by byte: tokens with quotes,
// escapes, control characters and parts of characters, at places inside and outside of strings.
#include "grammar/plain_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "grammar/composed.h"
#include "grammar/constraint.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/recognizer.h"
#include "grammar/token_masks.h"

namespace wick::grammar {
namespace {

TEST(PlainText, IsUtf8WithoutMarks) {
  for (const char* const text : {"", "a~\x7F", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF",
                                 "a\xE2", "\xED\x9F", "\xE0\xA0"})
    EXPECT_TRUE(is_plain_text(text)) << text;
  for (const char* const text : {"\"", "a\\", "\n", "\x80", "\xC0\x80", "\xED\xA0", "\xF4\x90",
                                 "\xE2\x28", "\xE0\x80", "\xF5", "\xC3\xA9\xA9"})
    EXPECT_FALSE(is_plain_text(text)) << text;
}

int reach_of(const char* pattern) {
  auto recognizer = *RegexRecognizer::parse(pattern);
  recognizer->begin(4'000'000);
  return PlainReach().of(recognizer->automaton(), recognizer->start());
}

TEST(PlainText, ReachEndsBeforeSomeTextIsDead) {
  EXPECT_EQ(reach_of(R"([^"\\\x00-\x1f]*)"), 64);
  EXPECT_EQ(reach_of(R"([^"\\\x00-\x1f]*x)"), 64);
  EXPECT_EQ(reach_of(R"([^]{0,20}")"), 16);  // by characters of one byte
  EXPECT_EQ(reach_of(R"([^]{7})"), 0);
  EXPECT_EQ(reach_of(R"([^]{8})"), 8);
  EXPECT_EQ(reach_of(R"((?!.*word).{9,})"), 0);
  EXPECT_EQ(reach_of(R"([^é]*)"), 0);
  EXPECT_EQ(reach_of(R"((?!password)[^]*)"), 0);
  EXPECT_EQ(reach_of(R"((?!forbidden)[^]*)"), 8);
}

// In an expression that has infinitely many strings behind each of its texts, "not one of these"
// says nothing about a text that does not end.
TEST(PlainText, ExclusionsOfAFewTextsAreLeftOut) {
  regex::Automaton automaton;
  regex::ExprPool& pool = automaton.pool();
  const auto except = [&](regex::ExprId of, std::string_view text) {
    return pool.minus(of, pool.literal(text));
  };
  const regex::ExprId a = pool.literal("a"), many = pool.repeat(a, 0, regex::kUnbounded);
  Exclusions exclusions;
  EXPECT_EQ(exclusions.without(automaton, except(pool.any_text(), "abc")), pool.any_text());
  EXPECT_EQ(exclusions.without(automaton, except(except(many, "a"), "aaa")), many);
  const regex::ExprId few = except(pool.repeat(a, 0, 3), "aa");
  const regex::ExprId one_is_last = except(pool.unite({many, pool.literal("b")}), "b");
  for (const regex::ExprId its : {few, one_is_last, many})
    EXPECT_EQ(exclusions.without(automaton, its), its);
}

using Maker = std::function<std::unique_ptr<Recognizer>()>;

struct MaskCase {
  std::string name;
  Maker make;
};

MaskCase regex_of(const char* pattern) {
  return {pattern, [pattern] { return *RegexRecognizer::parse(pattern); }};
}

MaskCase schema_of(const char* schema, JsonStyle style = {}) {
  return {schema, [schema, style] { return *SchemaRecognizer::parse(schema, style); }};
}

struct Frame {
  std::string prefix = {}, suffix = {}, again = {};
};

MaskCase framed_of(const char* schema, const Frame& frame) {
  return {
      cat(frame.prefix, schema, frame.suffix), [schema, frame]() -> std::unique_ptr<Recognizer> {
        Composition c;
        const auto document = c.document(*SchemaRecognizer::parse(schema, {}));
        const auto one = c.sequence({document, c.text(frame.suffix)});
        const auto whole = c.sequence({c.text(frame.prefix), c.list(one, c.text(frame.again), 1)});
        return std::make_unique<ComposedRecognizer>(*std::move(c).compile(whole));
      }};
}

std::vector<MaskCase> languages() {
  constexpr const char* kPerson =
      R"({"type":"object","properties":{"name":{"type":"string","maxLength":9},)"
      R"("né":{"pattern":"^é*$"}},"patternProperties":{"^b":{"type":"string","minLength":2}},)"
      R"("required":["name"]})";
  constexpr JsonStyle kAnyOrder = {.space = JsonStyle::Space::kAny, .has_order = false};
  return {
      regex_of(R"("([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")"),
      regex_of(R"((?!.*bad)[^\n]{0,20})"),
      regex_of(R"([^"]{8,12}"\n?)"),
      regex_of(R"((\p{L}|é)* ?"é"*)"),
      regex_of("[^]{0,9}"),
      schema_of("true"),
      schema_of("true", kAnyOrder),
      schema_of(kPerson),
      schema_of(kPerson, kAnyOrder),
      schema_of(R"({"type":"string"})"),
      schema_of(R"({"type":"string","maxLength":12,"minLength":3})"),
      schema_of(R"({"enum":["a\"b","aé","a\nb","ab",{"a":"b"},["é","\\"]]})"),
      schema_of(R"({"properties":{"a\"b":{"type":"null"},"é\n":{"const":"a"}},)"
                R"("additionalProperties":false,"minProperties":1,"type":"object"})"),
      schema_of(R"({"type":"object","propertyNames":{"maxLength":3},"maxProperties":2,)"
                R"("additionalProperties":{"type":["string","object"]}})",
                kAnyOrder),
      schema_of(R"({"type":"object","oneOf":[{"properties":{"a":{"const":"b"}}},)"
                R"({"properties":{"a":{"const":"é"}},"required":["a"]}]})"),
      schema_of(R"({"type":"object","not":{"required":["ab"]},"minProperties":1})"),
      schema_of(R"({"type":"array","items":{"type":"string","pattern":"^(é|a)*b?$"}})"),
      regex_of("[a-zA-Z0-9]{0,20}([:é][a-zA-Z0-9]*)?"),
      schema_of(R"({"type":"string","pattern":"^[a-zA-Z0-9]{0,12}:?[a-zA-Z0-9é]*$"})"),
      schema_of(R"({"type":"array","items":{"type":"string","format":"uri"}})"),
      framed_of("true", {.prefix = "<a>", .suffix = "\"b", .again = "\n"}),
      framed_of(R"({"type":"string"})", {.prefix = "a", .suffix = "é", .again = "ab"}),
      framed_of(R"({"type":"object"})", {.prefix = "\"", .suffix = "", .again = "\n"}),
  };
}

std::vector<std::string> quoted_vocabulary(std::mt19937& random) {
  std::vector<std::string> out = {"a", "b", "\"", "\\", "\xC3", "\xA9", "<end>", "1"};
  const std::vector<std::string> parts = {
      "a", "b", "ab", "na", "me", "é", "\xC3", "\xA9", "\"",   "\"",   ":",  ",",  "{",       "}",
      "[", "]", " ",  "\n", "1",  "0", "\\",   "n",    "\\u0", "00e9", "nu", "ll", "\xF0\x9F"};
  while (out.size() < 90) {
    std::string token;
    for (std::size_t n = 1 + random() % 5; n > 0; --n)
      token += parts[random() % parts.size()];
    if (random() % 8 == 0) token.append(random() % 12, 'a');
    out.push_back(token);
  }
  return out;
}

constexpr TokenId kEndToken = 6;

// After `text`, with a recognizer whose states no mask has made.
StateId after(Recognizer& recognizer, const std::string& text) {
  recognizer.begin(40'000'000);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

std::size_t check_document(const MaskCase& language, std::mt19937& random) {
  const std::vector<std::string> tokens = quoted_vocabulary(random);
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const auto trie = std::make_shared<TokenTrie>(TokenTrie::make(views, std::span(&kEndToken, 1)));
  const auto masks = std::make_shared<TokenMasks>(language.make(), trie);
  const auto judge = language.make();
  Constraint constraint(masks);
  std::string text;
  std::size_t n_pairs = 0;
  for (int i = 0; i < 20 && !constraint.is_ended() && !testing::Test::HasFailure(); ++i) {
    const auto mask = constraint.mask();
    EXPECT_TRUE(mask) << language.name;
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < static_cast<TokenId>(tokens.size()); ++id, ++n_pairs) {
      const std::string& token = tokens[static_cast<std::size_t>(id)];
      const StateId next = after(*judge, id == kEndToken ? text : text + token);
      EXPECT_NE(next, kFailedState) << language.name;
      const bool is_wanted = id == kEndToken ? judge->accepts(next) : next != kDeadState;
      EXPECT_EQ((*mask)->allows(id), is_wanted)
          << language.name << ": '" << token << "' after " << text;
      if (is_wanted) allowed.push_back(id);
    }
    if (allowed.empty()) break;
    const TokenId chosen = allowed[random() % allowed.size()];
    EXPECT_TRUE(*constraint.accept(chosen)) << language.name;
    if (chosen != kEndToken) text += tokens[static_cast<std::size_t>(chosen)];
  }
  return n_pairs;
}

TEST(PlainText, MasksEqualBruteForceOfSteps) {
  const char* const given = std::getenv("WICK_TEST_PAIRS");
  const std::size_t wanted = given == nullptr ? 150'000 : std::strtoull(given, nullptr, 10);
  std::mt19937 random(1);
  const std::vector<MaskCase> all = languages();
  std::size_t n_pairs = 0;
  for (std::size_t i = 0; n_pairs < wanted && !HasFailure(); ++i)
    n_pairs += check_document(all[i % all.size()], random);
  EXPECT_GE(n_pairs, wanted);
}

}  // namespace
}  // namespace wick::grammar
