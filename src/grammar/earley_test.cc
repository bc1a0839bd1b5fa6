// Grammars against brute force: random grammars, whose texts up to a length are found by filling
// sets until nothing changes; and what GBNF's users write.
#include "grammar/earley.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "grammar/gbnf.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

std::unique_ptr<EarleyRecognizer> recognizer_of(const std::string& grammar) {
  auto made = EarleyRecognizer::parse(grammar);
  EXPECT_TRUE(made) << grammar << ": " << (made ? "" : to_string(made.error()));
  return made ? *std::move(made) : nullptr;
}

StateId walk(EarleyRecognizer& recognizer, std::string_view text) {
  recognizer.begin(kMaskFuel);
  StateId state = recognizer.start();
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return state;
}

bool accepts(const std::string& grammar, std::string_view text) {
  const auto recognizer = recognizer_of(grammar);
  return recognizer->accepts(walk(*recognizer, text));
}

std::string error_of(const std::string& grammar) {
  const auto made = EarleyRecognizer::parse(grammar);
  return made ? "none" : made.error().id + ": " + made.error().message;
}

constexpr std::size_t kLongest = 6;
using Texts = std::set<std::string>;

// Texts of the grammar up to kLongest bytes.
class Language {
 public:
  explicit Language(const GrammarRules& rules) : rules_(rules), of_(rules.rules.size()) {
    for (std::size_t before = 1, after = 0; before != after;) {
      before = size();
      for (std::size_t i = 0; i < of_.size(); ++i)
        of_[i].merge(texts(rules.rules[i].body));
      after = size();
    }
  }

  const Texts& texts() const { return of_[rules_.start]; }

 private:
  std::size_t size() const {
    std::size_t n = 0;
    for (const Texts& one : of_)
      n += one.size();
    return n;
  }

  static Texts joined(const Texts& a, const Texts& b) {
    Texts out;
    for (const std::string& x : a) {
      for (const std::string& y : b) {
        if (x.size() + y.size() <= kLongest) out.insert(x + y);
      }
    }
    return out;
  }

  Texts texts(std::uint32_t id) const {
    const GrammarNode& node = rules_.nodes[id];
    using Kind = GrammarNode::Kind;
    Texts out;
    switch (node.kind) {
      case Kind::kText:
        return node.text.size() <= kLongest ? Texts{node.text} : Texts{};
      case Kind::kClass:
        for (const char c : {'a', 'b', 'c'}) {
          if (node.set.has(static_cast<char32_t>(c))) out.insert(std::string(1, c));
        }
        return out;
      case Kind::kRule:
        return of_[node.rule];
      case Kind::kChoice:
        for (const std::uint32_t child : node.children)
          out.merge(texts(child));
        return out;
      case Kind::kSequence:
        out = {""};
        for (const std::uint32_t child : node.children)
          out = joined(out, texts(child));
        return out;
      default:
        break;
    }
    const Texts part = texts(node.children[0]);
    Texts times = {""};
    for (std::uint32_t n = 0; n <= node.max && n <= node.min + kLongest; ++n) {
      if (n >= node.min) out.insert(times.begin(), times.end());
      times = joined(times, part);
    }
    return out;
  }

  const GrammarRules& rules_;
  std::vector<Texts> of_;
};

std::string random_part(std::mt19937& random, int depth) {
  const auto sub = [&] { return random_part(random, depth - 1); };
  const std::vector<std::string> leaves = {"\"a\"", "\"b\"", "\"\"",   "[ab]", "[^ac]",
                                           "root",  "x",     "\"ab\"", "y",    "[a-c]"};
  if (depth == 0) return leaves[random() % leaves.size()];
  switch (random() % 5) {
    case 0:
      return cat("(", sub(), " | ", sub(), ")");
    case 1: {
      const char* const counts[] = {"*", "+", "?", "{2}", "{1,2}", "{2,}"};
      return cat("(", sub(), ")", counts[random() % 6]);
    }
    default:
      return cat(sub(), " ", sub());
  }
}

void check(const std::string& grammar, const std::vector<std::string>& all) {
  const auto rules = parse_gbnf(grammar);
  ASSERT_TRUE(rules) << grammar;
  const Language language(*rules);
  const auto recognizer = recognizer_of(grammar);
  for (const std::string& text : all) {
    const StateId state = walk(*recognizer, text);
    ASSERT_NE(state, kFailedState) << grammar;
    ASSERT_EQ(recognizer->accepts(state), language.texts().contains(text)) << grammar << text;
    if (state == kDeadState) {
      const auto next = language.texts().lower_bound(text);
      ASSERT_FALSE(next != language.texts().end() && next->starts_with(text)) << grammar << text;
      continue;
    }
    const auto end = recognizer->shortest(state);
    ASSERT_TRUE(end) << grammar << "after '" << text << "'";
    const std::string whole = text + *end;
    ASSERT_TRUE(recognizer->accepts(walk(*recognizer, whole))) << grammar << whole;
    const bool is_known = whole.find_first_not_of("abc") == std::string::npos;
    if (whole.size() <= kLongest && is_known) {
      ASSERT_TRUE(language.texts().contains(whole)) << whole;
    }
    for (const std::string& other : language.texts()) {
      if (!is_known || !other.starts_with(text)) continue;
      ASSERT_LE(end->size(), other.size() - text.size()) << grammar;
    }
  }
}

TEST(EarleyRecognizer, EqualsBruteForce) {
  std::mt19937 random(7);
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; i < all.size() && all[i].size() < kLongest - 1; ++i) {
    for (const char c : {'a', 'b', 'c'})
      all.push_back(all[i] + c);
  }
  for (int n = 0; n < 150 && !HasFatalFailure(); ++n) {
    const auto rule = [&](const char* name) {
      return cat(name, " ::= ", random_part(random, 2), " | ", random_part(random, 1), "\n");
    };
    check(cat(rule("root"), rule("x"), rule("y")), all);
  }
}

constexpr char kJson[] = R"(
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws   # a comment
string ::=
  "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
)";

TEST(EarleyRecognizer, AGrammarOfJson) {
  EXPECT_TRUE(accepts(kJson, R"({"a":[1,-2.5e+3,{"é":"\u00e9\n"}], "b":{}})"));
  EXPECT_FALSE(accepts(kJson, R"({"a":01})"));
  EXPECT_FALSE(accepts(kJson, R"({"a":1)"));
  const auto recognizer = recognizer_of(kJson);
  EXPECT_EQ(*recognizer->shortest(walk(*recognizer, R"({"a":[[{"b)")), "\":0}]]}");
  EXPECT_EQ(walk(*recognizer, "{\"a\x7f"), kDeadState);
}

TEST(EarleyRecognizer, ListsAndRightRecursionHaveFewStates) {
  for (const char* const grammar : {R"(root ::= "a" root?)", R"(root ::= root "a" | "a")",
                                    R"g(root ::= item ("," item)*
           item ::= "a" | "(" root ")")g",
                                    R"g(root ::= item | item "," root
           item ::= "a" | "(" root ")")g"}) {
    const auto recognizer = recognizer_of(grammar);
    const bool has_commas = std::string_view(grammar).find(',') != std::string_view::npos;
    std::string text = "a";
    std::set<StateId> states;
    for (int i = 0; i < 200; ++i) {
      text += has_commas ? ",a" : "a";
      states.insert(walk(*recognizer, text));
    }
    EXPECT_LE(states.size(), 3U) << grammar;
    EXPECT_TRUE(recognizer->accepts(walk(*recognizer, text)));
  }
}

TEST(EarleyRecognizer, CountersAreNotCopied) {
  const auto recognizer = recognizer_of("root ::= [a-z]{3,1000000} \"!\"");
  EXPECT_EQ(*recognizer->shortest(walk(*recognizer, "a")), "aa!");
  EXPECT_EQ(walk(*recognizer, "ab!"), kDeadState);
}

TEST(EarleyRecognizer, RefusesWithPlaceOrLimit) {
  EXPECT_EQ(parse_gbnf("x ::= \"a\"").error().message,
            "line 1, column 10: there is no rule 'root'");
  EXPECT_EQ(error_of("root ::= x"), "bad_grammar: line 1, column 11: the rule 'x' is not defined");
  EXPECT_EQ(error_of("root ::= \"a\"\nroot ::= \"b\"").substr(0, 36),
            "bad_grammar: line 2, column 5: the r");
  EXPECT_EQ(error_of("root ::= [a"), "bad_grammar: line 1, column 12: ']' is wanted");
  EXPECT_EQ(error_of("root ::= (\"a\""), "bad_grammar: line 1, column 14: ')' is wanted");
  EXPECT_EQ(error_of("root ::= \"a\"{3,1}").substr(0, 11), "bad_grammar");
  EXPECT_EQ(error_of("root ::= \"\\q\"").substr(0, 11), "bad_grammar");
  EXPECT_EQ(error_of("root ::= !<[1]>").substr(0, 14), "grammar_tokens");
  EXPECT_EQ(error_of("root ::= \"a\"{1,99999999}").substr(0, 12), "grammar_size");
  EXPECT_EQ(error_of("root ::= (\"a\" root?){1,900000}").substr(0, 12), "grammar_size");
  EXPECT_EQ(error_of("root ::= " + std::string(100'000, '(')).substr(0, 12), "grammar_size");
  EXPECT_EQ(recognizer_of("root ::= \"a\" root")->start(), kDeadState) << "no text is finite";
}

// Seen elsewhere: stacks that double with each optional part.
TEST(EarleyRecognizer, NestedOptionalPartsStaySmall) {
  std::string grammar = "root ::= ";
  for (int i = 0; i < 150; ++i)
    grammar += "(\"a\" x? ";
  grammar.append(150, ')').append("\nx ::= \"b\" x? | root?");
  const auto recognizer = recognizer_of(grammar);
  const StateId state = walk(*recognizer, std::string(140, 'a'));
  EXPECT_TRUE(state == kFailedState || state != kDeadState);
  if (state == kFailedState) {
    EXPECT_EQ(recognizer->failure().code, ErrorCode::kUnsupported);
  }
}

}  // namespace
}  // namespace wick::grammar
