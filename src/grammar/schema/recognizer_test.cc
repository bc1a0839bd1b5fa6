// The recognizer against brute force: random schemas over a few names and values, judged by the
// machine that sees whole documents alone. A byte that is allowed must begin a document (one is
// walked to its end and judged); one that is not must begin none of all short documents.
#include "grammar/schema/recognizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/strings.h"
#include "grammar/constraint.h"
#include "grammar/limits.h"
#include "grammar/shared_strings.h"

namespace wick::grammar {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

std::mt19937 seeded(std::uint64_t otherwise) {
  return std::mt19937(static_cast<std::uint32_t>(number_of("WICK_TEST_SEED", otherwise)));
}

constexpr JsonStyle kTight = {.space = JsonStyle::Space::kNone, .has_order = false};

std::unique_ptr<SchemaRecognizer> recognizer_of(const std::string& schema, const JsonStyle& style) {
  auto made = SchemaRecognizer::parse(schema, style);
  EXPECT_TRUE(made) << schema << ": " << (made ? "" : to_string(made.error()));
  return made ? *std::move(made) : nullptr;
}

StateId walk(SchemaRecognizer& recognizer, const std::string& text) {
  recognizer.begin(4'000'000);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

// As far as it is not dead.
std::string live_part(SchemaRecognizer& recognizer, std::string text) {
  while (!text.empty() && walk(recognizer, text) == kDeadState)
    text.pop_back();
  return text;
}

std::string pick(std::mt19937& random, const std::vector<std::string>& from) {
  return from[random() % from.size()];
}

std::string random_schema(std::mt19937& random, int depth) {
  const auto sub = [&] { return random_schema(random, depth - 1); };
  const auto name = [&] { return pick(random, {"\"a\"", "\"b\""}); };
  const std::vector<std::string> leaves = {"true",
                                           "false",
                                           R"({"type":"integer"})",
                                           R"({"const":1})",
                                           R"({"enum":["a",1,null]})",
                                           R"({"type":"string","maxLength":1})",
                                           R"({"minimum":1})",
                                           R"({"type":["array","object"]})",
                                           R"({"required":["a"]})",
                                           R"({"maxItems":1})",
                                           R"({"minProperties":1})",
                                           R"({"pattern":"^a"})",
                                           R"({"minItems":1,"maxItems":2})"};
  if (depth == 0) return pick(random, leaves);
  const auto pattern = [&] {
    return pick(random, {R"("^(.*)a$")", R"("^.$")", R"("c$")", R"("^[ab]")", R"("a|cc")"});
  };
  switch (random() % 14) {
    case 0:
      return cat(R"({"allOf":[)", sub(), ",", sub(), "]}");
    case 1:
      return cat(R"({"anyOf":[)", sub(), ",", sub(), "]}");
    case 2:
      return cat(R"({"oneOf":[)", sub(), ",", sub(), "]}");
    case 3:
      return cat(R"({"not":)", sub(), "}");
    case 4:
      return cat(R"({"if":)", sub(), R"(,"then":)", sub(), R"(,"else":)", sub(), "}");
    case 5:
      return cat(R"({"properties":{)", name(), ":", sub(), R"(},"additionalProperties":)", sub(),
                 "}");
    case 6:
      return cat(R"({"required":[)", name(), R"(],"properties":{"a":)", sub(), R"(,"b":)", sub(),
                 "}}");
    case 7:
      return cat(R"({"prefixItems":[)", sub(), R"(],"items":)", sub(), "}");
    case 8:
      return cat(R"({"contains":)", sub(), R"(,"maxContains":1})");
    case 9:
      return cat(R"({"propertyNames":{"maxLength":1},"maxProperties":1,"minProperties":)",
                 random() % 2, "}");
    case 10:
      return cat(R"({"type":"array","uniqueItems":true,"minItems":)", random() % 3, R"(,"items":)",
                 sub(), "}");
    case 11:
      return cat(R"({"uniqueItems":true,"prefixItems":[)", sub(), R"(],"contains":)", sub(), "}");
    case 12:
      return cat(R"({"patternProperties":{)", pattern(), ":", sub(), R"(,"^[^b]*$":)", sub(), ",",
                 pattern(), ":", sub(), R"(},"properties":{"b":)", sub(),
                 R"(},"additionalProperties":)", sub(), "}");
    default:
      return cat(R"({"anyOf":[{"properties":{"a":)", sub(), R"(}},true],"unevaluatedProperties":)",
                 sub(), "}");
  }
}

// All short documents over two names and a few values.
std::vector<std::string> documents() {
  const std::vector<std::string> scalars = {"null", "true", "1", "0", "\"a\"", "\"\"", "\"b\""};
  std::vector<std::string> inner = scalars, out;
  inner.insert(inner.end(), {"[]", "{}", "[1]", R"({"a":1})"});
  out = inner;
  for (const std::string& x : inner) {
    out.push_back(cat("[", x, "]"));
    for (const char* const name : {"a", "b", "cc"})
      out.push_back(cat("{\"", name, "\":", x, "}"));
    for (const std::string& y : scalars) {
      out.push_back(cat("[", x, ",", y, "]"));
      out.push_back(cat("{\"a\":", x, ",\"b\":", y, "}"));
      out.push_back(cat("{\"b\":", y, ",\"a\":", x, "}"));
    }
  }
  return out;
}

// Finds a document that goes on from `state`: short endings first.
bool finish(SchemaRecognizer& recognizer, StateId state, std::string& text, std::mt19937& random) {
  for (int n_bytes = 0; n_bytes < 400; ++n_bytes) {
    recognizer.begin(4'000'000);
    if (recognizer.accepts(state)) return true;
    std::string allowed;
    for (const char c : std::string("}]\",:ab1n0ul\\tfse{[cr.5-239")) {
      const StateId next = recognizer.step(state, static_cast<unsigned char>(c));
      if (next != kDeadState && next != kFailedState) allowed += c;
    }
    if (allowed.empty()) {
      for (int c = 1; c < 256 && allowed.empty(); ++c) {
        if (recognizer.step(state, static_cast<unsigned char>(c)) != kDeadState)
          allowed += static_cast<char>(c);
      }
    }
    if (allowed.empty()) return false;
    const char c = random() % 3 != 0 ? allowed[0] : allowed[random() % allowed.size()];
    state = recognizer.step(state, static_cast<unsigned char>(c));
    text += c;
  }
  text.clear();  // it only grew; says nothing
  return true;
}

// Bytes of the shortest document, found byte by byte; nothing if it takes too many states.
std::optional<std::size_t> least_bytes(SchemaRecognizer& recognizer) {
  constexpr std::size_t kMaxStates = 20'000;
  std::vector<StateId> level = {recognizer.start()};
  std::unordered_set<StateId> seen(level.begin(), level.end());
  for (std::size_t n = 0; !level.empty() && seen.size() < kMaxStates; ++n) {
    std::vector<StateId> next;
    for (const StateId from : level) {
      if (recognizer.accepts(from)) return n;
      recognizer.begin(kMaskFuel);
      for (unsigned char c = 1; c < 128; ++c) {
        const StateId to = recognizer.step(from, c);
        if (to == kFailedState) return std::nullopt;
        if (to != kDeadState && seen.insert(to).second) next.push_back(to);
      }
    }
    level = std::move(next);
  }
  return std::nullopt;
}

class BruteForce {
 public:
  void check(std::mt19937& random) {
    const std::string schema = random_schema(random, 2);
    ++n_schemas_;
    auto made = SchemaRecognizer::parse(schema, kTight);
    if (!made) {
      EXPECT_EQ(made.error().id, "schema_fuel") << schema << ": " << to_string(made.error());
      ++n_refused_;
      return;
    }
    const auto recognizer = *std::move(made);
    auto compiled = compile_schema(schema, {});
    ASSERT_TRUE(compiled);
    JsonMachine judge(*std::move(compiled));
    for (const std::string& text : documents_) {
      const auto answer = judge.accepts(text);
      ASSERT_TRUE(answer);
      const StateId end = walk(*recognizer, text);
      if (end == kFailedState) {
        ++n_refused_;
        return;
      }
      EXPECT_EQ(recognizer->accepts(end), *answer)
          << schema << " on " << text << ", which lives up to " << live_part(*recognizer, text);
      ++n_checked_;
    }
    for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i)
      check_allowed(*recognizer, judge, schema, random);
  }

  std::size_t n_checked() const noexcept { return n_checked_; }

  int n_refused() const noexcept { return n_refused_; }

  int n_schemas() const noexcept { return n_schemas_; }

 private:
  void check_allowed(SchemaRecognizer& recognizer, JsonMachine& judge, const std::string& schema,
                     std::mt19937& random) {
    const std::string whole = documents_[random() % documents_.size()];
    const std::string text = whole.substr(0, random() % (whole.size() + 1));
    const StateId state = walk(recognizer, text);
    if (state == kDeadState) return;
    for (const char c : std::string("{}[]\",:1a-tn.\\")) {
      const StateId next = recognizer.step(state, static_cast<unsigned char>(c));
      if (next == kFailedState) continue;
      ++n_checked_;
      if (next == kDeadState) continue;
      std::string document = text + c;
      ASSERT_TRUE(finish(recognizer, next, document, random))
          << schema << ": dead end behind " << document;
      if (document.empty()) continue;
      const auto answer = judge.accepts(document);
      EXPECT_TRUE(answer && *answer) << schema << ": " << document;
    }
  }

  std::vector<std::string> documents_ = documents();
  std::size_t n_checked_ = 0;
  int n_refused_ = 0, n_schemas_ = 0;
};

TEST(SchemaRecognizer, EqualsBruteForce) {
  std::mt19937 random = seeded(1);
  BruteForce brute_force;
  const std::size_t wanted = number_of("WICK_TEST_PAIRS", 12'000);
  while (brute_force.n_checked() < wanted && !HasFailure())
    brute_force.check(random);
  EXPECT_LT(brute_force.n_refused(), brute_force.n_schemas() / 20);
  std::printf("%d schemas, %d refused, %zu answers\n", brute_force.n_schemas(),
              brute_force.n_refused(), brute_force.n_checked());
}

// Pieces of documents: ends of values with what comes behind them, and each byte.
std::vector<std::string> pieces(std::mt19937& random, const std::vector<std::string>& documents) {
  std::vector<std::string> out = {"\"}", "\"},",   "},{", "],[",   "\":{\"", "\": ",   ", \"",
                                  "1,",  "0}",     "e}",  "l]",    "l,\"",   "}}",     "]]",
                                  "}]",  "\", \"", "a\"", "b\":[", "\":\"",  "\\u006", "\\u0061\""};
  for (const char c : std::string("{}[]\",: 01-.atruefalsnxcb\\u\xC3\xA9"))
    out.emplace_back(1, c);
  while (out.size() < 100) {
    const std::string& from = documents[random() % documents.size()];
    out.push_back(from.substr(random() % from.size(), 1 + random() % 6));
  }
  return out;
}

// Masks share parts between places and schemas; accept() steps through the document itself.
std::size_t check_masks(const std::string& schema, const std::vector<std::string>& tokens,
                        const std::shared_ptr<SharedStrings>& strings, std::mt19937& random) {
  using Space = JsonStyle::Space;
  const JsonStyle style = {.space = Space(random() % 3), .has_order = random() % 2 == 0};
  auto made = SchemaRecognizer::parse(schema, style);
  if (!made) return 0;
  const auto masks = std::make_shared<TokenMasks>(*std::move(made), strings->trie(), strings);
  std::size_t n_pairs = 0;
  for (int round = 0; round < 4; ++round) {
    Constraint constraint(masks);
    std::string text;
    for (int n = 0; n < 16; ++n) {
      const auto mask = constraint.mask();
      if (!mask) break;  // schema_fuel
      std::vector<TokenId> allowed;
      for (TokenId id = 0; id < static_cast<TokenId>(tokens.size()); ++id, ++n_pairs) {
        const auto accepted = constraint.accept(id);
        if (!accepted) return n_pairs;
        if (*accepted) constraint.rollback(1);
        if (*accepted) allowed.push_back(id);
        EXPECT_EQ((*mask)->allows(id), *accepted)
            << schema << " behind " << text << ": " << tokens[static_cast<std::size_t>(id)];
      }
      EXPECT_EQ((*mask)->n_allowed, static_cast<int>(allowed.size())) << schema << ", " << text;
      if (allowed.empty() || testing::Test::HasFailure()) break;
      const TokenId chosen = allowed[random() % allowed.size()];
      EXPECT_TRUE(*constraint.accept(chosen));
      text += tokens[static_cast<std::size_t>(chosen)];
    }
  }
  return n_pairs;
}

// One leaf in many places, as definitions are used.
std::string schema_of_parts(std::mt19937& random) {
  const std::vector<std::string> texts = {
      R"({"format":"uri"})", R"({"type":"string","format":"date-time"})",
      R"({"type":"string","pattern":"^(?:a|\\u00e9)*b?$"})",
      R"({"type":"string","minLength":2,"maxLength":9})", R"({"type":"string"})"};
  const std::string leaf = random() % 2 == 0 ? pick(random, texts) : random_schema(random, 1);
  const std::string list = cat(R"({"type":"array","items":)", random_schema(random, 1), "}");
  const std::string object =
      cat(R"({"type":"object","properties":{"a":{"$ref":"#/$defs/leaf"},)"
          R"("b":{"$ref":"#/$defs/list"},"c":{"type":"number"}},"required":["a"],)"
          R"("additionalProperties":)",
          pick(random, {"false", "true", R"({"type":"integer"})"}), "}");
  return cat(R"({"$ref":"#/$defs/object","$defs":{"leaf":)", leaf, R"(,"list":)", list,
             R"(,"object":{"type":"object","properties":{"a":)", object, R"(,"b":)", object,
             R"(,"c":{"type":"array","items":)", object, "}}}}}");
}

TEST(SchemaRecognizer, MasksAllowWhatIsAccepted) {
  std::mt19937 random = seeded(2);
  const std::vector<std::string> tokens = pieces(random, documents());
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  constexpr std::size_t kFewBytes = 1U << 16U;  // so it forgets at times
  const auto strings = std::make_shared<SharedStrings>(
      std::make_shared<TokenTrie>(TokenTrie::make(views, {})), kFewBytes);
  const std::size_t wanted = number_of("WICK_TEST_PAIRS", 500'000);
  std::size_t n_pairs = 0;
  for (int i = 0; n_pairs < wanted && !HasFailure(); ++i)
    n_pairs += check_masks(i % 2 == 0 ? random_schema(random, 2) : schema_of_parts(random), tokens,
                           strings, random);
}

TEST(SchemaRecognizer, KeepsTheDeclaredOrder) {
  const auto recognizer = recognizer_of(R"({"type":"object","properties":{"z":{"type":"integer"},)"
                                        R"("a":{"type":"string"}},"required":["a","q"]})",
                                        {});
  for (const char* const text : {R"({"z": 1, "a": "x", "q": null})", R"({"a":"","q":1,"r":2})"})
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text;
  for (const char* const text :
       {R"({"a":"x", "z")", R"({"q)", R"({"z":1,"q)", R"({"z":1})", R"({"z":  )", R"({ "z)",
        R"({"a":"x","a")", "[", R"({"z":1.5)", R"({"\u007a)"})
    EXPECT_EQ(walk(*recognizer, text), kDeadState) << text;
}

// Every text that is not dead goes on to a document, with the members of both branches in the order
// of the first that declares them.
void check_no_dead_end(const std::string& schema) {
  const auto recognizer = recognizer_of(schema, {});
  std::vector<std::string> open = {"{"};
  for (std::size_t i = 0; i < open.size() && open.size() < 3'000; ++i) {
    const std::string text = open[i];
    bool goes_on = recognizer->accepts(walk(*recognizer, text));
    for (const char* const name : {"a", "b", "c", "d", "e"}) {
      for (const char* const value : {"0", "1"}) {
        const std::string more = cat(text, text == "{" ? "\"" : ",\"", name, "\":", value);
        if (walk(*recognizer, more) != kDeadState) {
          goes_on = true;
          open.push_back(more);
        }
      }
    }
    goes_on = goes_on || recognizer->accepts(walk(*recognizer, text + "}"));
    EXPECT_TRUE(goes_on || text == "{") << schema << text;
  }
}

TEST(SchemaRecognizer, BranchesThatDeclareTheSameNamesHaveNoDeadEnds) {
  std::mt19937 random(5);
  for (int n = 0; n < 300 && !HasFailure(); ++n) {
    std::string branches;
    for (int k = 0; k < 2 + n % 2; ++k) {
      std::vector<std::string> names = {"a", "b", "c", "d"};
      std::shuffle(names.begin(), names.end(), random);
      names.resize(2 + random() % 3);
      std::string properties, required;
      for (const std::string& name : names) {
        const char* const values[] = {R"({"const":0})", R"({"const":1})", R"({"enum":[0,1]})"};
        properties += cat(properties.empty() ? "" : ",", "\"", name, "\":", values[random() % 3]);
        if (random() % 2 == 0) required += cat(required.empty() ? "\"" : ",\"", name, "\"");
      }
      branches += cat(branches.empty() ? "" : ",", R"({"type":"object","properties":{)", properties,
                      R"(},"required":[)", required, R"(],"additionalProperties":)",
                      random() % 3 == 0 ? R"({"enum":[0,1]})" : "false", "}");
    }
    const char* const unions[] = {"anyOf", "oneOf", "allOf"};
    check_no_dead_end(cat("{\"", unions[random() % 3], "\":[", branches, "]}"));
  }
}

TEST(SchemaRecognizer, ReferencesDeclareNamesWhereTheyStand) {
  const auto recognizer = recognizer_of(
      R"({"allOf":[{"$ref":"#/definitions/base"},{"properties":{"extra":true}}],)"
      R"("definitions":{"base":{"allOf":[{"$ref":"#/definitions/id"},{"properties":{"b":true}}]},)"
      R"("id":{"properties":{"id":true}}}})",
      {});
  EXPECT_TRUE(recognizer->accepts(walk(*recognizer, R"({"id":1,"b":2,"extra":3})")));
  for (const char* const text : {R"({"b":1,"id")", R"({"extra":1,"b")", R"({"extra":1,"id")"})
    EXPECT_EQ(walk(*recognizer, text), kDeadState) << text;
}

// Without a look into the inner oneOf each event would have to exclude all parts of the inner ones;
// then even the first state takes too many steps (as GitHub's pull request events did).
TEST(SchemaRecognizer, EventsExcludeThoseOfNestedChoices) {
  const auto event = [](int i, const std::string& more) {
    return cat(R"({"properties":{"kind":{"enum":["k)", i, R"("]},"body":{"$ref":"#/$defs/body"})",
               more, R"(},"required":["kind","body"],"additionalProperties":false})");
  };
  std::string events;
  for (int i = 0; i < 20; ++i) {
    const std::string one = event(i, R"(,"a":{"type":"string"})");
    events += cat(i == 0 ? "" : ",", i % 5 != 0 ? one
                                                : cat(R"({"oneOf":[)", event(i, R"(,"b":true)"),
                                                      ",", event(i, R"(,"c":true)"), "]}"));
  }
  std::string body = R"({"type":"object","properties":{)";
  for (int i = 0; i < 30; ++i)
    body += cat(i == 0 ? "" : ",", R"("m)", i, R"(":{"$ref":"#/$defs/leaf"})");
  body += R"(},"additionalProperties":false})";
  const auto recognizer = recognizer_of(
      cat(R"({"type":"object","oneOf":[)", events, R"(],"$defs":{"body":)", body,
          R"(,"leaf":{"type":["object","null"],"properties":{"x":{"type":"integer"}},)"
          R"("additionalProperties":false}}})"),
      {});
  EXPECT_TRUE(
      recognizer->accepts(walk(*recognizer, R"({"kind":"k7","body":{"m3":{"x":1}},"a":""})")));
  EXPECT_TRUE(recognizer->accepts(walk(*recognizer, R"({"kind":"k5","body":{},"c":0})")));
  EXPECT_EQ(walk(*recognizer, R"({"kind":"k5","body":{},"a)"), kDeadState);
  // Without b and c it fits both parts of the inner oneOf.
  EXPECT_EQ(walk(*recognizer, R"({"kind":"k5","body":{}})"), kDeadState);
}

// Each choice has eight members with choices of their own; `more` is its own part.
std::string choice_of_many(const std::string& member, const std::string& more) {
  std::string out = R"({"properties":{)";
  for (int i = 0; i < 8; ++i)
    out += cat(R"("m)", i, R"(":{"oneOf":[{"type":"boolean"},)",
               R"({"type":"array","items":{"$ref":"#/$defs/value"}},{"$ref":"#/$defs/value"}]},)");
  return cat(out, member, "}", more, "}");
}

constexpr char kValueOfMany[] =
    R"("$defs":{"value":{"oneOf":[{"type":"string"},{"type":"object",)"
    R"("properties":{"signal":{"type":"string"}},"required":["signal"]}]}})";

// As Vega's scales: one choice is for objects whose type is none of the others'.
TEST(SchemaRecognizer, AChoiceForOtherTypesExcludesThoseOfEachType) {
  std::string choices, kinds;
  for (int i = 0; i < 10; ++i) {
    choices +=
        choice_of_many(cat(R"("type":{"enum":["k)", i, R"("]})"), R"(,"required":["type"])") + ",";
    kinds += cat(i == 0 ? "" : ",", R"("k)", i, "\"");
  }
  const std::string other =
      cat(R"(,"not":{"properties":{"type":{"enum":[)", kinds, R"(]}},"required":["type"]})");
  const auto recognizer =
      recognizer_of(cat(R"({"type":"object","oneOf":[)", choices,
                        choice_of_many(R"("x":true)", other), "],", kValueOfMany, "}"),
                    {});
  for (const char* const text : {R"({"m1":[]})", R"({"m1":[],"type":"other"})", R"({"type":"k3"})"})
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text;
}

// As Travis' deployments: one choice is for the strings that are none of the others'.
TEST(SchemaRecognizer, AChoiceForOtherStringsExcludesThoseOfEachString) {
  const std::string required = R"(,"required":["type"])";
  std::string choices, kinds;
  for (int i = 0; i < 10; ++i) {
    const std::string kind = cat(R"("k)", i, "\"");
    choices += choice_of_many(cat(R"("type":{"enum":[)", kind, "]}"), required) + ",";
    kinds += cat(i == 0 ? "" : ",", kind);
  }
  const std::string other = cat(R"("type":{"type":"string","not":{"enum":[)", kinds, "]}}");
  const auto recognizer =
      recognizer_of(cat(R"({"type":"object","oneOf":[)", choices, choice_of_many(other, required),
                        "],", kValueOfMany, "}"),
                    {});
  for (const char* const text : {R"({"m1":[],"type":"other"})", R"({"m1":[],"type":"k3"})"})
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text;
  EXPECT_EQ(walk(*recognizer, R"({"m1":[],"type":3)"), kDeadState);
}

// As Swagger's parameters: the member in which the choices differ is required beside them.
TEST(SchemaRecognizer, ChoicesExcludeEachOtherByAMemberThatIsRequiredBesideThem) {
  std::string choices;
  for (int i = 0; i < 10; ++i)
    choices += cat(i == 0 ? "" : ",", choice_of_many(cat(R"("in":{"enum":["k)", i, R"("]})"),
                                                     R"(,"additionalProperties":false)"));
  const auto recognizer = recognizer_of(
      cat(R"({"type":"object","required":["in"],"oneOf":[)", choices, "],", kValueOfMany, "}"), {});
  EXPECT_TRUE(recognizer->accepts(walk(*recognizer, R"({"m1":[],"in":"k3"})")));
  EXPECT_EQ(walk(*recognizer, R"({"m1":[]})"), kDeadState);
  EXPECT_EQ(walk(*recognizer, R"({"in":"k")"), kDeadState);
}

// As OpenAPI's schemas: a schema is closed but for names of a pattern, and a reference requires a
// name that the pattern does not match.
TEST(SchemaRecognizer, AClosedChoiceExcludesOneThatRequiresAnotherName) {
  const auto schema = [](const char* pattern, const char* more, int n) {
    std::string out = cat(R"({"$ref":"#/$defs/schema","$defs":{"reference":{"type":"object",)",
                          R"("required":["$ref"],"patternProperties":{"^\\$ref$":)",
                          R"({"type":"string"}}},"schema":{"type":"object","properties":{)", more);
    for (int i = 0; i < n; ++i)
      out += cat(i == 0 ? "" : ",", R"("m)", i,
                 R"(":{"oneOf":[{"$ref":"#/$defs/schema"},{"$ref":"#/$defs/reference"}]})");
    return cat(out, R"(},"patternProperties":{")", pattern,
               R"(":{}},"additionalProperties":false}}})");
  };
  const auto accepts = [](const std::string& text_of_schema, const std::string& text) {
    const auto recognizer = recognizer_of(text_of_schema, kTight);
    const StateId end = walk(*recognizer, text);
    EXPECT_NE(end, kFailedState) << text_of_schema;
    return recognizer->accepts(end);
  };
  const std::string closed = schema("^x-", "", 20);
  EXPECT_TRUE(accepts(closed, R"({"m1":{"m2":{"$ref":""},"m3":{"x-":1}},"m4":{"m5":{}}})"));
  EXPECT_TRUE(accepts(closed, R"({"m1":{"$ref":"","x-":1,"m2":7}})"));
  EXPECT_FALSE(accepts(closed, R"({"m1":{"y":1}})"));
  // Where the pattern matches the name, or it is declared, a value may be both.
  for (const std::string& open : {schema("^[x$]", "", 3), schema("^x-", R"("$ref":true,)", 3)}) {
    EXPECT_TRUE(accepts(open, R"({"m1":{"x-":1}})"));
    EXPECT_TRUE(accepts(open, R"({"m1":{"$ref":"","m2":7}})"));
    EXPECT_FALSE(accepts(open, R"({"m1":{"$ref":"","x-":1}})"));
    EXPECT_FALSE(accepts(open, R"({"m1":{"$ref":""}})"));
  }
}

// As CloudFormation's resources: what a member may be is told by another that comes behind it.
TEST(SchemaRecognizer, AnObjectOfManyKindsHasTheNamesOfEach) {
  std::string kinds;
  for (int i = 0; i < 400; ++i) {
    kinds += cat(i == 0 ? "" : ",", R"({"type":"object","properties":{"body":{"type":"object",)",
                 R"("properties":{"name":{"type":"string"})");
    for (int k = 0; k < 10; ++k)
      kinds += cat(R"(,"m)", i, "x", k, R"(":{"type":")", i % 2 == 0 ? "null" : "string", R"("})");
    kinds +=
        cat(R"(},"required":["m)", i, R"(x3"],"additionalProperties":false},"type":{"const":")",
            "k", i, R"("}},"required":["body","type"],"additionalProperties":false})");
  }
  const auto recognizer = recognizer_of(cat(R"({"anyOf":[)", kinds, "]}"), {});
  for (const char* const text :
       {R"({"body":{"name":"","m17x3":""},"type":"k17"})", R"({"body":{"m8x3":null},"type":"k8"})"})
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text;
  for (const char* const text :
       {R"({"body":{"name":"","m1x3":"","m2x)", R"({"body":{"m1x4)", R"({"body":{"m1x3":"","na)",
        R"({"body":{"m17x3":""},"type":"k8)", R"({"type)", R"({"body":{"m400)"})
    EXPECT_EQ(walk(*recognizer, text), kDeadState) << text;
}

// Whether a value can come is asked once, not for each list of names that no demand speaks of: fuel
// for one member of 200 would not do for five then.
TEST(SchemaRecognizer, NamesThatNoMemberDemandsDoNotMatter) {
  std::string demands;
  for (int i = 0; i < 14; ++i)
    demands += cat(R"("m)", i, R"(":["n)", i, "\"],");
  const auto recognizer =
      recognizer_of(cat(R"({"type":"object","dependencies":{)", demands,
                        R"("a":["b"]},"additionalProperties":{"type":["object","string"]}})"),
                    {});
  StateId state = walk(*recognizer, "{");
  recognizer->begin(400'000);
  for (int i = 0; i < 200; ++i)
    state = recognizer->step_all(state, cat(i == 0 ? "" : ",", "\"x", i, R"(":"")"));
  ASSERT_NE(state, kFailedState);
  state = recognizer->step_all(state, R"(,"a":"")");
  EXPECT_EQ(recognizer->step(state, '}'), kDeadState);
  EXPECT_TRUE(recognizer->accepts(recognizer->step_all(state, R"(,"b":""})")));
}

// As Tye's services: each value may be what keeps an object from being one of the other kinds. Of
// the combinations only those count that ask the least of the next value.
TEST(SchemaRecognizer, CombinationsThatAskMoreOfAValueAreLeftOut) {
  std::string choices;
  for (int i = 0; i < 9; ++i) {
    choices += cat(i == 0 ? "" : ",", R"({"type":"object","properties":{"name":{"type":"string"},)",
                   R"("args":{"type":"string"},"n":{"type":"integer"},"env":{"type":"array"},)",
                   R"("m":{"type":"integer"},"tags":{"type":"array"},"k)", i,
                   R"(":{"type":"string"}},"required":["name","k)", i, "\"]}");
  }
  const auto recognizer =
      recognizer_of(cat(R"({"type":"array","items":{"type":"object","oneOf":[)", choices, "]}}"),
                    {});
  for (const char* const text :
       {R"([{"name":"","args":"","n":1,"k3":""}])", R"([{"name":"","env":[],"k0":"","k2":0}])"})
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text;
  EXPECT_EQ(walk(*recognizer, R"([{"name":"","k3":"","k5":"",)"), kDeadState);
  EXPECT_EQ(walk(*recognizer, R"([{"name":"","args":0,"n)"), kDeadState);
}

TEST(SchemaRecognizer, ForcesWhatMustCome) {
  const auto recognizer =
      recognizer_of(R"({"type":"object","properties":{"kind":{"const":"circle"},)"
                    R"("r":{"type":"number"}},"required":["kind","r"],)"
                    R"("additionalProperties":false})",
                    {.space = JsonStyle::Space::kNone});
  StateId state = recognizer->start();
  EXPECT_EQ(*recognizer->forced(state, 100), R"({"kind":")");  // an escape may come
}

TEST(SchemaRecognizer, SeesDeadEndsEarly) {
  const auto dead = [](const char* schema, const char* text) {
    const auto recognizer = recognizer_of(schema, kTight);
    return walk(*recognizer, text) == kDeadState;
  };
  const char* const shapes = R"({"oneOf":[{"properties":{"k":{"const":"a"},)"
                             R"("x":{"type":"integer"}},"required":["k","x"]},)"
                             R"({"properties":{"k":{"const":"b"},"x":{"type":"null"}},)"
                             R"("required":["k","x"]}],"type":"object","maxProperties":2})";
  EXPECT_FALSE(dead(shapes, R"({"k":"a","x":1)"));
  EXPECT_TRUE(dead(shapes, R"({"k":"c)"));
  EXPECT_TRUE(dead(shapes, R"({"k":"a","x":n)"));
  EXPECT_TRUE(dead(shapes, R"({"x":null,"k":"a)"));
  EXPECT_TRUE(dead(shapes, R"({"y)"));
  EXPECT_TRUE(dead(R"({"type":"array","items":{"$ref":"#"},"minItems":1})", ""));
  EXPECT_TRUE(dead(R"({"anyOf":[{"type":"string"},{"type":"object",)"
                   R"("properties":{"a":false},"required":["a"]}]})",
                   "{"));
}

// Fuel may end at any step of a walk: then it is lost, never a byte that would not be allowed.
TEST(SchemaRecognizer, AnEndThatCannotBeSettledIsAnErrorAndNoRefusal) {
  const std::string schema =
      R"({"oneOf":[{"properties":{"a":{"properties":{"b":{"pattern":"x"}}}}},)"
      R"({"properties":{"a":{"properties":{"c":{"type":"string"}}}}}]})";
  const std::string text = R"({"a":{"c":1,"b":"x"}})";
  for (std::size_t n_before = 0; n_before < text.size(); ++n_before) {
    for (const std::uint64_t fuel : {1U, 3U, 10U, 30U, 100U, 300U, 1000U}) {
      const auto recognizer = recognizer_of(schema, kTight);
      StateId state = walk(*recognizer, text.substr(0, n_before));
      ASSERT_NE(state, kDeadState);
      recognizer->begin(fuel);
      state = recognizer->step(state, static_cast<unsigned char>(text[n_before]));
      EXPECT_NE(state, kDeadState) << text.substr(0, n_before + 1) << " with " << fuel;
      if (state != kFailedState) continue;
      EXPECT_NE(recognizer->failure().id, "") << text.substr(0, n_before + 1);
      // What was lost is not remembered as an answer.
      EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text))) << text.substr(0, n_before + 1);
    }
  }
}

// The plan of the end may give 1 to the second item, and the first item take it.
TEST(SchemaRecognizer, AnItemMayTakeTheValueThatALaterOneWasToHave) {
  const char* const schema =
      R"({"type":"array","uniqueItems":true,"minItems":2,"contains":{"const":1}})";
  const auto recognizer = recognizer_of(schema, kTight);
  const auto end = recognizer->shortest(recognizer->start());
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(*end, "[1,0]");
}

TEST(SchemaRecognizer, TheShortestEndIsTheShortest) {
  std::mt19937 random = seeded(5);
  int n_compared = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string schema = random_schema(random, 2);
    auto made = SchemaRecognizer::parse(
        schema, {.space = JsonStyle::Space::kNone, .has_order = random() % 2 == 0});
    if (!made || (*made)->start() == kDeadState) continue;
    SchemaRecognizer& recognizer = **made;
    const auto end = recognizer.shortest(recognizer.start());
    const auto n_bytes = least_bytes(recognizer);
    if (!n_bytes) continue;
    ASSERT_TRUE(end) << schema << ": " << to_string(end.error());
    EXPECT_TRUE(recognizer.accepts(walk(recognizer, *end))) << schema << " " << *end;
    EXPECT_EQ(end->size(), *n_bytes) << schema << " " << *end;
    ++n_compared;
  }
  EXPECT_GT(n_compared, 200);
}

}  // namespace
}  // namespace wick::grammar
