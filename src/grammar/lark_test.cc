#include "grammar/lark.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "grammar/earley.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

// "yes" for a text of the language, "no" for another one, "dead at 3" where no text begins so.
std::string answer_of(const char* grammar, std::string_view text) {
  const TokenNames names = [](std::string_view name) -> std::optional<TokenId> {
    return name == "<|end|>" ? std::optional<TokenId>(7) : std::nullopt;
  };
  auto made = EarleyRecognizer::parse(grammar, names);
  if (!made) return made.error().id + ": " + made.error().message;
  EarleyRecognizer& recognizer = **made;
  recognizer.begin(kMaskFuel);
  StateId state = recognizer.start();
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = recognizer.step(state, static_cast<unsigned char>(text[i]));
    if (state == kDeadState) return "dead at " + std::to_string(i);
    if (state == kFailedState) return recognizer.failure().id;
  }
  return recognizer.accepts(state) ? "yes" : "no";
}

const char* const kSums = R"~(
// Sums.
?start: sum
sum: product | sum ("+" | "-") product -> add
product: atom
       | product "*" atom
atom: NUMBER | "(" sum ")"
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
)~";

TEST(Lark, RulesTerminalsAndIgnoredText) {
  for (const char* const good : {"1", " 1 + 2*(3 - 4.5) ", "((1))"})
    EXPECT_EQ(answer_of(kSums, good), "yes") << good;
  EXPECT_EQ(answer_of(kSums, "1 +"), "no");
  EXPECT_EQ(answer_of(kSums, "1 2"), "dead at 2");
}

// A lexer reads "ab" as one name.
TEST(Lark, TerminalsAreGreedy) {
  const char* const two = "start: NAME NAME\nNAME: /[a-z]+/\n%ignore \" \"";
  EXPECT_EQ(answer_of(two, "ab"), "no");
  EXPECT_EQ(answer_of(two, "a b"), "yes");
  const char* const keyword = "start: \"if\" NAME | NAME\nNAME: /[a-z]+/\n%ignore \" \"";
  for (const char* const good : {"if a", "iffy", "if"})
    EXPECT_EQ(answer_of(keyword, good), "yes");
  EXPECT_EQ(answer_of("start: A \"b\"\nA: /[ab]+/", "ab"), "no");
}

// What is the fewest for each terminal is no end where a lexer reads them as one.
TEST(Lark, AShortEndIsATextOfTheLanguage) {
  const auto end_of = [](const std::string& grammar, std::string_view begun = {}) {
    const auto made = *EarleyRecognizer::parse(grammar, {});
    const StateId state = made->step_all(made->start(), begun);
    const auto end = made->shortest(state);
    EXPECT_TRUE(!end || made->accepts(made->step_all(state, *end))) << grammar;
    return end ? *end : end.error().id;
  };
  const std::string name = "\nNAME: /[a-z]+/\n";
  EXPECT_EQ(end_of("start: NAME \";\" NAME" + name), "a;a");
  EXPECT_EQ(end_of("start: NAME NAME" + name), "no_short_end");
  const std::string two = "start: NAME NAME" + name + "%ignore \" \"";
  EXPECT_EQ(end_of(two), "a a");
  EXPECT_EQ(end_of(two, "ab"), " a");
  EXPECT_EQ(end_of(two, "ab "), "a");
  EXPECT_EQ(end_of(two, "ab c"), "");
  const std::string let = cat("start: (\"let\" NAME | NAME \"=\" STRING) \";\"", name,
                              "STRING: /\"[^\"]*\"/\n", "%ignore /--[^\\n]*\\n/\n%ignore /\\s/");
  EXPECT_EQ(end_of(let, "let"), " a;") << "the shortest ignored text";
  EXPECT_EQ(end_of(let, "x=\"a b"), "\";");
  EXPECT_EQ(end_of("start: N \"..\" N\nN: /[0-9]+(\\.[0-9]*)?/\n%ignore /\\s/"), "0 ..0");
  EXPECT_EQ(end_of("start: A \"b\"\nA: /[ab ]+/\n%ignore \" \""), "no_short_end");
}

TEST(Lark, TextsRangesAndFlags) {
  EXPECT_EQ(answer_of("start: \"Ab-\"i \"0\"..\"9\"", "aB-7"), "yes");
  EXPECT_EQ(answer_of("start: /x[a-c]\\./i", "XB."), "yes");
  EXPECT_EQ(answer_of("start: /a.b/s", "a\nb"), "yes");
  EXPECT_EQ(answer_of("start: /a.b/", "a\nb"), "dead at 1");
  EXPECT_EQ(answer_of("start: \"a\" ~ 2 \"b\" ~ 0..1 [\"c\"] \"d\"{1,2}", "aabdd"), "yes");
  EXPECT_EQ(answer_of("start: \"\\u00e9\\n\"", "é\n"), "yes");
  const std::string repeated = "start: /x./" + std::string(100, 'i') + "s";
  EXPECT_EQ(answer_of(repeated.c_str(), "X\n"), "yes");
  for (const char* const bad : {"start: \"\"..\"a\"", "start: \"a\"..\"\""})
    EXPECT_TRUE(answer_of(bad, "").ends_with("a range has one character on each side")) << bad;
}

TEST(Lark, JsonRegexAndTokens) {
  const char* const grammar = R"(%llguidance {}
start: "x=" %json {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
  "additionalProperties": false} ";" code
code: %regex {"pattern": "[0-9]{2}"} | <|end|> | <[9]>)";
  EXPECT_EQ(answer_of(grammar, "x={\"a\": 12};34"), "yes");
  EXPECT_EQ(answer_of(grammar, "x={\"b"), "dead at 4");
  EXPECT_EQ(answer_of(grammar, "x={\"a\": 1};\xFF[7]"), "yes");
  EXPECT_EQ(answer_of(grammar, "x={\"a\": 1};\xFF[9]"), "yes");
  EXPECT_EQ(answer_of(grammar, "x={\"a\": 1};<|end|>"), "dead at 11");
  EXPECT_EQ(answer_of("start: <|none|>", ""),
            "bad_grammar: line 1, column 16: the model has no token <|none|>");
}

TEST(Lark, AttributesPrioritiesAndAliases) {
  EXPECT_EQ(answer_of("start[capture]: a\n!a.2: B | \"c\" -> other\nB.-1: \"b\"", "b"), "yes");
  EXPECT_EQ(answer_of("start: a\na[lazy]: \"b\"", ""),
            "grammar_attribute: line 2, column 8: the attribute 'lazy' is not supported");
  EXPECT_EQ(answer_of("%declare A\nstart: A", ""),
            "grammar_directive: line 1, column 10: '%declare' is not supported");
  EXPECT_EQ(answer_of("start: A\nA: \"a\" A | \"b\"", ""),
            "grammar_recursion: the terminal 'A' is recursive, which is not supported");
  EXPECT_EQ(answer_of("start: A\nA: \"a\" b\nb: \"b\"", ""),
            "bad_grammar: line 3, column 7: the terminal 'A' holds a rule");
  EXPECT_EQ(answer_of("start: b", ""),
            "bad_grammar: line 1, column 9: the rule 'b' is not defined");
}

TEST(Ebnf, Wc3AndIso) {
  const char* const w3c = R"~(
    /* sums */
    [1] sum ::= digits ('+' digits)*   # behind it
    [2] digits ::= [#x30-#x39]+ - "0")~";
  for (const char* const good : {"1", "12+3"})
    EXPECT_EQ(answer_of(w3c, good), "yes") << good;
  EXPECT_EQ(answer_of(w3c, "1+"), "no");
  EXPECT_EQ(answer_of(w3c, "0"), "no");
  const char* const iso = R"(
    (* sums *) sum = digits, { "+" , digits } ;
    digits = digit, [ digit ] | 3 * '7' ; digit = "1" | "2" - "2" | "7" .)";
  for (const char* const good : {"1", "11+777"})
    EXPECT_EQ(answer_of(iso, good), "yes") << good;
  EXPECT_EQ(answer_of(iso, "2"), "dead at 0");
  EXPECT_EQ(answer_of(iso, "1+"), "no");
}

TEST(Ebnf, ErrorsNameThePlace) {
  EXPECT_EQ(answer_of("a = b ;", ""), "bad_grammar: line 1, column 8: the rule 'b' is not defined");
  EXPECT_EQ(answer_of("a = \"b\"", ""), "bad_grammar: line 1, column 8: ';' is wanted");
  EXPECT_EQ(answer_of("a = b - c ; b = b, \"x\" | \"x\" ; c = \"x\" ;", ""),
            "grammar_recursion: a part of a difference is recursive, which is not supported");
}

TEST(GrammarSyntax, IsDetected) {
  using Syntax = GrammarSyntax;
  EXPECT_EQ(detected_syntax("root ::= \"a\""), Syntax::kGbnf);
  EXPECT_EQ(detected_syntax("# a\n root::=\"a\""), Syntax::kGbnf);
  EXPECT_EQ(detected_syntax("[1] a ::= \"a\""), Syntax::kEbnf);
  EXPECT_EQ(detected_syntax("(* a *) a = \"a\";"), Syntax::kEbnf);
  EXPECT_EQ(detected_syntax("// a\nstart: \"a\""), Syntax::kLark);
  EXPECT_EQ(detected_syntax("%import common.INT\nstart: INT"), Syntax::kLark);
  EXPECT_EQ(detected_syntax("start.1: \"a\""), Syntax::kLark);
}

TEST(Gbnf, TokensAreControlTokens) {
  EXPECT_EQ(answer_of("root ::= \"a\" <|end|> <[9]>", "a\xFF[7]\xFF[9]"), "yes");
}

}  // namespace
}  // namespace wick::grammar
