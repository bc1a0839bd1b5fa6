#include "regex/ecma.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "regex/automaton.h"
#include "support/test_data.h"

namespace wick::regex {
namespace {

struct Case {
  const char* pattern;
  std::vector<std::string> yes, no;
};

void check(const Case& c, PatternUse use) {
  Automaton automaton;
  const auto language = parse_ecma(automaton.pool(), c.pattern, use);
  ASSERT_TRUE(language) << c.pattern << ": " << language.error().message;
  for (const std::string& text : c.yes) {
    const auto found = automaton.matches(*language, text);
    ASSERT_TRUE(found) << c.pattern << ": " << found.error().message;
    EXPECT_TRUE(*found) << c.pattern << " finds '" << text << "'";
  }
  for (const std::string& text : c.no) {
    const auto found = automaton.matches(*language, text);
    ASSERT_TRUE(found) << c.pattern << ": " << found.error().message;
    EXPECT_FALSE(*found) << c.pattern << " does not find '" << text << "'";
  }
}

TEST(RegexEcma, SearchesAndAnchors) {
  for (const Case& c : std::vector<Case>{
           {"", {"", "x", "é"}, {"\xFF"}},
           {"b", {"b", "abc"}, {"", "ac"}},
           {"^b", {"b", "bc"}, {"ab", ""}},
           {"b$", {"b", "ab"}, {"bc", "b\n"}},
           {"^$", {""}, {"a"}},
           {"^a|b$", {"a", "ax", "xb"}, {"xa", "bx", ""}},
           {"(^|,)a(,|$)", {"a", "a,", ",a", "b,a,c", "x,a"}, {"ab", "ba", "aa"}},
           {"a^b", {}, {"ab", "a", "b"}},
           {"a$b", {}, {"ab", "a"}},
           {"^a?$", {"", "a"}, {"aa", "b"}},
           {"^(?:$|x)y?", {"", "x", "xy", "xyz"}, {"y", "z"}},
           {"^(?<year>\\d{4})-(?<month>\\d\\d)$", {"2026-11"}, {"2026-1", "26-11", "٠٠٠٠-٠٠"}},
       }) {
    check(c, PatternUse::kSearch);
  }
}

TEST(RegexEcma, WholeMatchesFromEndToEnd) {
  check({"a|bc", {"a", "bc"}, {"ab", "abc", ""}}, PatternUse::kWhole);
  check({"[^]*?x+?", {"x", "éx\nx"}, {"", "xy"}}, PatternUse::kWhole);
  check({"\\bone\\b.*\\btwo\\b", {"one two", "one, two"}, {"onetwo", "one two "}},
        PatternUse::kWhole);
}

TEST(RegexEcma, EscapesAndClasses) {
  for (const Case& c : std::vector<Case>{
           {"^\\w$", {"a", "Z", "0", "_"}, {"é", "-", ""}},
           {"^\\W$", {"é", "-", "日"}, {"a", "ab"}},
           {"^\\d\\D\\s\\S$", {"1a x", "0\xC3\xA9\xE2\x80\xA8-"}, {"aa x", "1a  "}},
           {"^\\s$",
            {" ", "\t", "\v", "\xC2\xA0", "\xEF\xBB\xBF", "\xE2\x80\xA9"},
            {"\xC2\x85", "x"}},
           {"^.$",
            {"a", "日", "\xF0\x9F\x98\x80", "\xC2\x85"},
            {"\n", "\r", "\xE2\x80\xA8", "ab", "\xFF"}},
           {"^[\\w-.]$", {"-", ".", "w"}, {",", "/"}},
           {"^[a\\-c]$", {"a", "-", "c"}, {"b"}},
           {"^[^a-c]$", {"d", "é"}, {"a", "b", "c", ""}},
           {"^[]$", {}, {"", "a"}},
           {"^[\\b]\\x41\\u0042\\u{1F600}\\uD83D\\uDE00\\cJ\\0$",
            {std::string("\bAB\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n\0", 13)},
            {"AB"}},
           {"^[à-ÿ]+$", {"éè"}, {"e", "Ā", "\xC3"}},
           {"^\\/\\-\\@\\.\\{}]$", {"/-@.{}]"}, {}},
           {"^x{,2}$", {"x{,2}"}, {"x", "xx", ""}},
           {"^x{2}y{1,2}z{0,}$", {"xxy", "xxyyz", "xxyzzz"}, {"xy", "xxyyyz"}},
       }) {
    check(c, PatternUse::kSearch);
  }
}

TEST(RegexEcma, UnicodeProperties) {
  for (const Case& c : std::vector<Case>{
           {"^\\p{L}$", {"a", "é", "日", "\xF0\x90\x90\x80"}, {"1", "-", "́"}},
           {"^\\p{Letter}\\p{Lu}\\p{gc=Ll}\\P{L}$", {"aÉé1"}, {"aéé1", "aÉéa"}},
           {"^\\p{Script=Han}+$", {"日本"}, {"か"}},
           {"^\\p{Nd}$", {"5", "٣"}, {"½", "a"}},
           {"^[\\p{Lu}\\d_]+$", {"A1_É"}, {"a"}},
           {"^\\p{ASCII}\\p{Any}\\p{Alphabetic}\\p{White_Space}$", {"~日日 "}, {"é日日 "}},
           {"^\\p{Assigned}$", {"a"}, {"\xCD\xB8"}},
       }) {
    check(c, PatternUse::kSearch);
  }
}

TEST(RegexEcma, Assertions) {
  for (const Case& c : std::vector<Case>{
           {"^(?!foo)[a-z]+$", {"fo", "bar", "afoo"}, {"foo", "foobar", ""}},
           {"^(?=.*\\d)(?=.*[a-z]).{4,8}$", {"abc1", "1abcdefg"}, {"abcd", "1234", "ab1"}},
           {"^((?!bad).)*$", {"", "good", "ba", "b\xC3\xA9"}, {"bad", "xbadx", "a\nb"}},
           {"^(?:(?!--)[a-z-])+$", {"a-b", "-", "a-"}, {"a--b", "--", ""}},
           {"\\bcat\\b", {"cat", "a cat.", "cat\xC3\xA9"}, {"cats", "concat", "_cat"}},
           {"\\Bcat", {"concat", "_cat"}, {"cat", "a cat"}},
           {"^[\\w.]+\\b$", {"a", "a.b"}, {"a.", "."}},
           {"a(?=b)", {"ab", "aab"}, {"a", "ac", "ba"}},
           {"a(?!b)", {"a", "ac", "aba"}, {"ab", "abab", "b"}},
           {"^(?!(?:a|b)$).*$", {"", "ab", "c"}, {"a", "b"}},
           {"^.*(?<!\\.tmp)$", {"a.txt", "tmp", ""}, {"a.tmp", ".tmp"}},
           {"^[a-z]+(?<=ing)$", {"ring", "ing"}, {"sings", "in"}},
           {"(?<=\\$)\\d+$", {"$5", "a$55"}, {"5", "$a5"}},
           {"(?<!-)5", {"5", "a5", "55", "-55"}, {"-5", ""}},
           {"^(?:[a-c-]{1,3}(?<!-)/)?[a-c]+$", {"a", "a-b/c", "abc/a"}, {"a-/c", "-/c", "/c"}},
           {"^[ab]{3,}(?<=ab)(?<!bab)c$", {"aabc", "baabc"}, {"abc", "babc", "bbbc"}},
           {"^(?:é|è)+(?<!é)!$", {"è!", "éè!"}, {"é!", "èé!"}},
           {"(?<=^v?|\\sv?)\\d\\.\\d$", {"1.2", "v1.2", "a v1.2", "a 1.2"}, {"a1.2", "vv1.2"}},
           {"(?<!^a|b)c", {"c", "xac", "xc"}, {"ac", "bc", ""}},
           {"^(?:(?=a)[ab]|c){2}$", {"aa", "ac", "cc"}, {"b", "ab", "ba"}},
           {"^((\\.(?!\\.)/)?\\w+/?)+$", {"a", "./a", "a/b/", "a./b"}, {"", "..", "../a", "./"}},
           {"^(?:(?!ab)[a-c]{2}x?)*$", {"", "aa", "baxca"}, {"ab", "aaab", "aax-"}},
           {"^([a-z]|[a-z]([a-z-](?!--))*[a-z])$",
            {"a", "ab", "a-b", "a--b"},
            {"", "a-", "ab--c", "a---b"}},
           {"^x([a-b](?!b))+c$", {"xac", "xaac", "xbac"}, {"xc", "xabc", "xbbc"}},
           {"^(?:^a|b)+$", {"a", "b", "ab", "abb"}, {"", "aa", "ba"}},
           {"^(?:^a|b){2,}$", {"ab", "bb", "abb"}, {"a", "b", "aa"}},
           {"^x(?:^a|b)*$", {"x", "xb", "xbb"}, {"xa", "a"}},
           {"^(?:^^a\\s*^b)+$", {}, {"", "ab", "a b"}},
       }) {
    check(c, PatternUse::kSearch);
  }
}

struct Refusal {
  const char* pattern;
  const char* id;
  const char* says;
};

TEST(RegexEcma, SaysWhatIsWrongAndWhere) {
  for (const Refusal& r : {
           Refusal{"(a)\\1", "regex_unsupported", "a back-reference (\\1) at byte 3"},
           {"(?<n>a)\\k<n>", "regex_unsupported", "a back-reference (\\k<…>) at byte 7"},
           {"a(?<=ba)c", "regex_unsupported", "a lookbehind at byte 1"},
           {"(?<=\\b)c", "regex_unsupported", "an assertion within a lookbehind at byte 0"},
           {"(?:a\\b)*c", "regex_unsupported", "an assertion in a repetition at byte 7"},
           {"(?i:a)", "regex_unsupported", "flags in a group (\"(?i:\") at byte 0"},
           {"\\p{Script=Klingon}", "regex_unsupported",
            "the property \\p{Script=Klingon} at byte 0"},
           {"\\ud800", "regex_unsupported", "half of a surrogate pair"},
           {"a)", "regex_syntax", "a ')' that closes nothing at byte 1"},
           {"(a", "regex_syntax", "a '(' without its ')' at byte 0"},
           {"[a", "regex_syntax", "a '[' without its ']' at byte 0"},
           {"*a", "regex_syntax", "a quantifier with nothing to repeat at byte 0"},
           {"a**", "regex_syntax", "a quantifier after a quantifier at byte 2"},
           {"a{3,2}", "regex_syntax",
            "a quantifier whose minimum 3 is above its maximum 2 at byte 1"},
           {"[b-a]", "regex_syntax", "a range that ends before it begins at byte 1"},
           {"\\a", "regex_syntax", "an unknown escape (\\a) at byte 0"},
           {"x\\", "regex_syntax", "a backslash at its end at byte 1"},
           {"\\u12", "regex_syntax", "an escape that needs 4 hexadecimal digits"},
           {"(?P<n>a)", "regex_syntax", "a group \"(?\" of a kind that ECMA-262 does not have"},
           {"\xFF", "regex_syntax", "bytes that are not UTF-8 at byte 0"},
           {"a{0,9999999999}", "regex_memory", "repeats 9999999999 times at byte 4"},
       }) {
    Automaton automaton;
    const auto language = parse_ecma(automaton.pool(), r.pattern);
    ASSERT_FALSE(language) << r.pattern;
    EXPECT_EQ(language.error().id, r.id) << r.pattern;
    EXPECT_NE(language.error().message.find(r.says), std::string::npos)
        << r.pattern << ": " << language.error().message;
  }
}

// tools/goldens/regex_search.py: random patterns and texts, judged by Python's re.
TEST(ParityRegexEcma, FindsWhatPythonFinds) {
  std::ifstream file(test::test_data("regex/search.tsv"));
  std::string line;
  int n_patterns = 0, n_texts = 0, n_refused = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cells(1);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\t') {
        cells.emplace_back();
      } else if (cells.size() > 2 && line[i] == '\\') {
        cells.back() += '\n';  // the only escape
        ++i;
      } else {
        cells.back() += line[i];
      }
    }
    ASSERT_EQ(cells.size(), cells[1].size() + 2);
    ++n_patterns;
    Automaton automaton;
    const auto language = parse_ecma(automaton.pool(), cells[0]);
    if (!language) {
      EXPECT_EQ(language.error().id, "regex_unsupported") << language.error().message;
      ++n_refused;
      continue;
    }
    for (std::size_t i = 2; i < cells.size(); ++i, ++n_texts) {
      const auto found = automaton.matches(*language, cells[i]);
      ASSERT_TRUE(found) << cells[0] << ": " << found.error().message;
      EXPECT_EQ(*found, cells[1][i - 2] == '1') << cells[0] << " in '" << cells[i] << "'";
    }
  }
  EXPECT_EQ(n_patterns, 1000);
  EXPECT_EQ(n_refused, 0);
  EXPECT_GT(n_texts, 10'000);
}

TEST(RegexEcma, PatternsThatSayTheSameAreOneExpression) {
  Automaton automaton;
  ExprPool& pool = automaton.pool();
  EXPECT_EQ(*parse_ecma(pool, "^a+$"), *parse_ecma(pool, "^(?:aa*?)$"));
  EXPECT_EQ(*parse_ecma(pool, "^[ab]{2,4}$"), *parse_ecma(pool, "^(?:b|a)(?:a|b)(?:[ba]{0,2})$"));
  EXPECT_EQ(*parse_ecma(pool, ".*"), pool.any_text());
}

}  // namespace
}  // namespace wick::regex
