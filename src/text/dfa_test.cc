// The automaton against PCRE2, which runs the same patterns by backtracking.
#include "text/dfa.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "base/strings.h"
#include "text/pattern.h"
#include "text/pre_tokenizer.h"
#include "base/utf8.h"

namespace wick {
namespace {

constexpr const char* kNames[] = {"gpt-2",       "smollm",         "llama-bpe", "dbrx",
                                  "qwen2",       "qwen35",         "gpt-4o",    "tekken",
                                  "deepseek-v3", "deepseek-coder", "falcon",    "deepseek-llm"};

std::vector<Span> pieces(const Pattern& pattern, std::string_view text) {
  Matcher matcher;
  std::vector<Span> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto match = matcher.find(pattern, text, at);
    if (!match || match->begin == text.size()) break;
    if (match->end > match->begin) out.push_back(*match);
    at = match->end > match->begin
             ? match->end
             : match->end + static_cast<std::size_t>(decode_utf8(text.substr(match->end)).length);
  }
  return out;
}

std::string shown(const std::vector<Span>& spans, std::string_view text) {
  std::string out;
  for (const Span s : spans)
    out += cat("[", text.substr(s.begin, s.end - s.begin), "]");
  return out;
}

std::string run(std::string_view regex, std::string_view text) {
  const auto pattern = Pattern::compile(regex);
  if (!pattern || pattern->automaton() == nullptr) return "no automaton";
  return shown(pieces(*pattern, text), text);
}

// Characters of every kind that the patterns tell apart, in runs as texts have them.
std::string random_text(std::mt19937& random) {
  static const std::string kCommon[] = {
      " ",       " ",      "\n",     "\r\n", "\t",     "a",          "B",      "'s",     "'LL",
      "'\u017F", "1",      "23",     "-",    "...",    "/",          "\u00A0", "\u3000", "\u0301",
      "é",       "ǅ",      "ʰ",      "日",   "あ",     "ー",         "가",     "٣",      "½",
      "€",       "\u180E", "\u2028", "😀",    "\u200D", "\U00031350", "\u1C89", "龥",     "\u9FA6"};
  std::string text;
  const auto n = random() % 24;
  for (std::size_t i = 0; i < n; ++i) {
    const auto times = random() % 4 == 0 ? random() % 9 : 1;
    std::string part = kCommon[random() % std::size(kCommon)];
    if (random() % 3 == 0) {
      char32_t code =
          static_cast<char32_t>(random() % (random() % 3 == 0 ? 0x32000U : 0x3000U)) + 1;
      if (code >= 0xD800 && code < 0xE000) code -= 0x1000;
      part.clear();
      append_utf8(part, code);
    }
    for (std::size_t k = 0; k < times; ++k)
      text += part;
  }
  return text;
}

TEST(Dfa, SplitsAsPcre2DoesForEveryKnownPattern) {
  std::mt19937 random(20261121);
  for (const char* const name : kNames) {
    const auto info = find_pre_tokenizer(name);
    ASSERT_TRUE(info) << name;
    for (const std::string_view regex : info->patterns) {
      const auto ours = Pattern::compile(regex);
      const auto theirs = Pattern::compile_pcre2(regex);
      ASSERT_TRUE(ours && theirs) << regex;
      ASSERT_TRUE(ours->automaton() != nullptr) << regex;
      for (int i = 0; i < 1500; ++i) {
        const std::string text = random_text(random);
        const auto got = pieces(*ours, text);
        const auto wanted = pieces(*theirs, text);
        ASSERT_EQ(shown(got, text), shown(wanted, text)) << regex;
      }
    }
  }
}

// A pattern out of sets, alternatives, repetitions and looks.
std::string random_pattern(std::mt19937& random, int depth) {
  static const char* const kAtoms[] = {"a",     "b",     "[ab]",     "[^a]",
                                       R"(\s)", R"(\S)", R"(\p{L})", R"(\p{Lu})",
                                       R"(\d)", ".",     "(?i:k)",   "[一-龥]"};
  static const char* const kTimes[] = {"",    "",     "?",  "*",  "+", "{1,3}",
                                       "{2}", "{2,}", "??", "*?", "+?"};
  static const char* const kLooks[] = {R"((?!\S))", R"((?=a))", "(?![b ])", "$"};
  if (depth == 0 || random() % 3 == 0) return kAtoms[random() % std::size(kAtoms)];
  std::string out = "(?:";
  const auto n = 1 + random() % 3;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && random() % 2 == 0) out += '|';
    out += random_pattern(random, depth - 1);
    out += kTimes[random() % std::size(kTimes)];
    if (random() % 6 == 0) out += kLooks[random() % std::size(kLooks)];
  }
  return out + ")";
}

TEST(Dfa, FindsWhatPcre2FindsForRandomPatterns) {
  std::mt19937 random(7);
  int n_run = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string regex = random_pattern(random, 3);
    const auto ours = Pattern::compile(regex);
    const auto theirs = Pattern::compile_pcre2(regex);
    ASSERT_TRUE(theirs) << regex << ": " << to_string(theirs.error());
    ASSERT_TRUE(ours) << regex;
    if (ours->automaton() == nullptr) continue;  // a repeated part that may be empty
    ++n_run;
    for (int k = 0; k < 20; ++k) {
      std::string text;
      for (auto c = random() % 12; c > 0; --c) {
        static const char* const kChars[] = {"a", "b", "A",      " ",  "\n",
                                             "1", "K", "\u212A", "日", "é"};
        text += kChars[random() % std::size(kChars)];
      }
      ASSERT_EQ(shown(pieces(*ours, text), text), shown(pieces(*theirs, text), text))
          << regex << " on '" << printable(text) << "'";
    }
  }
  EXPECT_GT(n_run, 500);
}

TEST(Dfa, TakesTheFirstAlternativeThatMatchesNotTheLongest) {
  EXPECT_EQ(run("a|ab", "abab"), "[a][a]");
  EXPECT_EQ(run("(?:a|ab)(?:c|bcd)", "abcd"), "[abcd]");
  EXPECT_EQ(run("a*?b|a+", "aab aa"), "[aab][aa]");
}

TEST(Dfa, GivesTheLastSpaceBackToTheWord) {
  EXPECT_EQ(run(R"( ?\p{L}+|\s+(?!\S)|\s+)", "a   b  "), "[a][  ][ b][  ]");
}

TEST(Dfa, KnowsIntersectionsAndClassesInClasses) {
  EXPECT_EQ(run(R"([\p{L}&&[^\p{Han}]]+)", "ab日c"), "[ab][c]");
  EXPECT_EQ(run("[a[0-9]_]+", "a1_b2"), "[a1_][2]");
  EXPECT_EQ(run("[^a&&[a-c]]+", "abcd"), "[bcd]");  // the complement of what both have
  EXPECT_EQ(run(R"([^\S\n]+)", "a \t\n b"), "[ \t][ ]");
}

TEST(Dfa, RefusesWhatItCannotRun) {
  for (const char* const regex : {"^a", R"(\ba)", "(?<=a)b", "(?=ab)c", "(a)\\1", "a++", "(?>a)",
                                  "(?:a*)*", "(?i:é)", "a{1,999}", "[[:alpha:]]", "(?i:\\p{Lu})",
                                  "(a", "a)", "[a", "*a", "\\", "(?:(?:(?:a{60}){60}){60})"}) {
    EXPECT_FALSE(Dfa::compile(regex)) << regex;
  }
}

// Overlapping attempts would read 1 MB half a million times over.
TEST(HostileDfa, GivesUpInsteadOfReadingATextAgainAndAgain) {
  const auto dfa = Dfa::compile("a*b|[^a]");
  ASSERT_TRUE(dfa);
  const std::string text(1'000'000, 'a');
  std::size_t work = 0;
  EXPECT_FALSE(dfa->find(text, 0, work));
  EXPECT_LE(work, 300 * text.size());
}

TEST(HostileDfa, NestedRepetitionsCostWhatTheTextIsLong) {
  const auto pattern = Pattern::compile("(?:a+)+b");
  ASSERT_TRUE(pattern);
  ASSERT_TRUE(pattern->automaton() != nullptr);
  Matcher matcher;
  std::string text(100'000, 'a');
  text.push_back('b');
  EXPECT_TRUE(matcher.find(*pattern, text, 0));
}

}  // namespace
}  // namespace wick
