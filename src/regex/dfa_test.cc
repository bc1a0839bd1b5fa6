// The DFA against plain backtracking over the same syntax tree.
#include "regex/dfa.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/strings.h"
#include "base/utf8.h"
#include "support/backtrack.h"

namespace wick::regex {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 30;

// All matches, one behind the other, as `find(from)` gives them.
template <class Find>
std::string pieces(std::string_view text, const Find& find) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Span> match = find(at);
    if (!match) break;
    out += cat("[", match->begin, " ", text.substr(match->begin, match->end - match->begin), "]");
    at = match->end > match->begin
             ? match->end
             : match->end + static_cast<std::size_t>(decode_utf8(text.substr(match->end)).length);
  }
  return out;
}

std::string run(std::string_view pattern, std::string_view text) {
  const auto dfa = Dfa::compile(pattern);
  if (!dfa) return dfa.error().message;
  std::size_t work = 0;
  return pieces(text, [&](std::size_t at) { return dfa->find(text, at, work, kMuch); });
}

std::string backtrack(std::string_view pattern, std::string_view text) {
  const auto tree = parse_oniguruma(pattern);
  if (!tree) return tree.error().message;
  const test::Backtracker backtracker(*tree, text);
  return pieces(text, [&](std::size_t at) { return backtracker.find(at); });
}

// A pattern out of sets, alternatives, repetitions and looks.
std::string random_pattern(std::mt19937& random, int depth) {
  static const char* const kAtoms[] = {"a",     "b",     "[ab]",     "[^a]",
                                       R"(\s)", R"(\S)", R"(\p{L})", R"(\p{Lu})",
                                       R"(\d)", ".",     "(?i:k)",   "[一-龥]"};
  static const char* const kTimes[] = {"",    "",     "?",      "*",  "+",  "{1,3}",
                                       "{2}", "{2,}", "{1,2}?", "??", "*?", "+?"};
  static const char* const kLooks[] = {
      R"((?!\S))", R"((?=a))",  "(?![b ])", "$",           "^",     R"(\b)", R"(\B)",
      "(?<=a)",    "(?<![b ])", "(?=a+b)",  "(?!(?:ab)+)", R"(\z)", R"(\A)", "(?=[ab]{2}$)"};
  if (depth == 0 || random() % 3 == 0) {
    std::string atom = kAtoms[random() % std::size(kAtoms)];
    if (random() % 8 == 0 && atom != "(?i:k)") atom += random() % 2 == 0 ? "++" : "?+";
    return random() % 8 == 0 ? cat("(?:", atom, ")") : atom;
  }
  std::string out = "(?:";
  const auto n = 1 + random() % 3;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && random() % 2 == 0) out += '|';
    const std::string part = random_pattern(random, depth - 1);
    out += part.ends_with('+') ? part : cat(part, kTimes[random() % std::size(kTimes)]);
    if (random() % 6 == 0) out += kLooks[random() % std::size(kLooks)];
  }
  return out + ")";
}

TEST(Dfa, FindsWhatBacktrackingFindsForRandomPatterns) {
  std::mt19937 random(7);
  int n_run = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string pattern = random_pattern(random, 3);
    if (const auto dfa = Dfa::compile(pattern); !dfa) {
      // A repeated part that may be empty, a fourth long lookahead.
      ASSERT_EQ(dfa.error().code, ErrorCode::kUnsupported) << pattern << dfa.error().message;
      continue;
    }
    ++n_run;
    for (int k = 0; k < 20; ++k) {
      std::string text;
      for (auto c = random() % 12; c > 0; --c) {
        static const char* const kChars[] = {"a", "b", "A",      " ",  "\n",
                                             "1", "K", "\u212A", "日", "é"};
        text += kChars[random() % std::size(kChars)];
      }
      ASSERT_EQ(run(pattern, text), backtrack(pattern, text))
          << pattern << " on '" << printable(text) << "'";
    }
  }
  EXPECT_GT(n_run, 1000);
}

TEST(Dfa, TakesTheFirstAlternativeThatMatchesNotTheLongest) {
  EXPECT_EQ(run("a|ab", "abab"), "[0 a][2 a]");
  EXPECT_EQ(run("(?:a|ab)(?:c|bcd)", "abcd"), "[0 abcd]");
  EXPECT_EQ(run("a*?b|a+", "aab aa"), "[0 aab][4 aa]");
}

TEST(Dfa, GivesTheLastSpaceBackToTheWord) {
  EXPECT_EQ(run(R"( ?\p{L}+|\s+(?!\S)|\s+)", "a   b  "), "[0 a][1   ][3  b][5   ]");
}

TEST(Dfa, KnowsIntersectionsAndClassesInClasses) {
  EXPECT_EQ(run(R"([\p{L}&&[^\p{Han}]]+)", "ab日c"), "[0 ab][5 c]");
  EXPECT_EQ(run("[a[0-9]_]+", "a1_b2"), "[0 a1_][4 2]");
  EXPECT_EQ(run("[^a&&[a-c]]+", "abcd"), "[1 bcd]");  // the complement of what both have
  EXPECT_EQ(run(R"([^\S\n]+)", "a \t\n b"), "[1  \t][4  ]");
}

TEST(Dfa, LooksAtTheCharacterBefore) {
  EXPECT_EQ(run("(?<=a)b", "ab b"), "[1 b]");
  EXPECT_EQ(run("(?<!a)b", "ab b"), "[3 b]");
  EXPECT_EQ(run("(?<=é)日", "日é日"), "[5 日]");
  EXPECT_EQ(run("^a", "ab\na"), "[0 a][3 a]");
  EXPECT_EQ(run(R"(\Aa|b\z)", "ab\nab"), "[0 a][4 b]");
}

TEST(Dfa, LooksFurtherAhead) {
  EXPECT_EQ(run(R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))", "1234567 12"),
            "[0 1][1 234][4 567][8 12]");
  EXPECT_EQ(run(R"((?=(\d{3})+(?!\d)))", "12345"), "[2 ]");
  EXPECT_EQ(run("[a-z]+(?!\\w| x)", "ab x cd"), "[3 x][5 cd]");
}

TEST(Dfa, PossessiveRepetitionsGiveNothingBack) {
  EXPECT_EQ(run("a++b|a", "aab aa"), "[0 aab][4 a][5 a]");
  EXPECT_EQ(run("[ab]?+b", "b ab"), "[2 ab]");
  EXPECT_EQ(run("[ab]*+b|b", "aab"), "[2 b]");
}

TEST(Dfa, RefusesByNameWhatItCannotRun) {
  struct Case {
    const char* pattern;
    const char* says;
  };

  for (const auto& [pattern, says] :
       {Case{"(?<=ab)c", "a lookbehind of more than one character at byte 0"},
        Case{"(a)\\1", "a back-reference (\\1) at byte 3"},
        Case{"(?:ab)++", "a possessive"},
        Case{"(?>a)", "an atomic group"},
        Case{"(?:a*)*", "what may match nothing"},
        Case{"(?i:é)", "without regard to case"},
        Case{"(?i:\\p{Lu})", "without regard to case"},
        Case{"[[:alpha:]]", "a POSIX class"},
        Case{"\\h", "\\h at byte 0"},
        Case{"\\R", "\\R at byte 0"},
        Case{"a{1,2}+", "a sign behind {…}"},
        Case{"a{2}?", "a sign behind {…}"},
        Case{"(?m:a)", "a group's flags"},
        Case{"(*ANY)a", "a verb"},
        Case{"\\p{Emoji}", "the property \\p{Emoji}"},
        Case{"[\\s-a]", "a range that begins with a class"},
        Case{"a{,3}", "{,m}"},
        Case{"(?=a(?=bc))", "a lookahead in a lookahead"},
        Case{"a{1,9999}", "places"},
        Case{"(?:(?:(?:a{60}){60}){60})", "places"}}) {
    const auto dfa = Dfa::compile(pattern);
    ASSERT_FALSE(dfa) << pattern;
    EXPECT_EQ(dfa.error().code, ErrorCode::kUnsupported) << pattern;
    EXPECT_NE(dfa.error().message.find(says), std::string::npos)
        << pattern << ": " << dfa.error().message;
  }
  for (const char* const pattern : {"(a", "a)", "[a", "*a", "\\", "[b-a]", "\\u12", "\xFF"}) {
    const auto dfa = Dfa::compile(pattern);
    ASSERT_FALSE(dfa) << pattern;
    EXPECT_EQ(dfa.error().id, "regex_syntax") << pattern;
  }
}

// Overlapping attempts would read 1 MB half a million times over.
TEST(HostileDfa, GivesUpInsteadOfReadingATextAgainAndAgain) {
  const std::string text(1'000'000, 'a');
  for (const char* const pattern : {"a*b|[^a]", "a(?=a*b)|[^a]"}) {
    const auto dfa = Dfa::compile(pattern);
    ASSERT_TRUE(dfa) << pattern;
    std::size_t work = 0;
    EXPECT_FALSE(dfa->find(text, 0, work, 256 * text.size()));
    EXPECT_LE(work, 300 * text.size());
  }
}

TEST(HostileDfa, NestedRepetitionsCostWhatTheTextIsLong) {
  const auto dfa = Dfa::compile("(?:a+)+b");
  ASSERT_TRUE(dfa);
  std::string text(100'000, 'a');
  text.push_back('b');
  std::size_t work = 0;
  EXPECT_TRUE(dfa->find(text, 0, work, 1000));
}

TEST(HostileDfa, PatternsThatNeedTooManyStatesAreRefused) {
  for (const char* const pattern :
       {"[ab]*a[ab]{20}", "a{5000}", "(?:a{60}){60}", "(?:[^b]{1,90}){90}"}) {
    const auto dfa = Dfa::compile(pattern);
    ASSERT_FALSE(dfa) << pattern;
    EXPECT_EQ(dfa.error().id, "regex_memory") << pattern;
  }
}

}  // namespace
}  // namespace wick::regex
