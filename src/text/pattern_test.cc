#include "text/pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/strings.h"
#include "base/utf8.h"
#include "support/backtrack.h"
#include "text/limits.h"
#include "text/pre_tokenizer.h"

namespace wick {
namespace {

std::string matches(std::string_view regex, std::string_view text) {
  const auto pattern = Pattern::compile(regex);
  if (!pattern) return pattern.error().message;
  Matcher matcher;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto match = matcher.find(*pattern, text, at);
    if (!match || match->end == match->begin) break;
    out += '[';
    out += text.substr(match->begin, match->end - match->begin);
    out += ']';
    at = match->end;
  }
  return out;
}

TEST(Pattern, SpaceIsWhiteSpaceWithoutTheMongolianSeparator) {
  EXPECT_EQ(matches(R"(\s)", "a\u180E\u00A0\u0085\u200B"), "[\u00A0][\u0085]");
  EXPECT_EQ(matches(R"([\s]+)", " \t\u2003\u180E"), "[ \t\u2003]");
  EXPECT_EQ(matches(R"(\S+)", "a\u180E b"), "[a\u180E][b]");
}

TEST(Pattern, KnowsTheCharactersOfUnicode16) {
  EXPECT_EQ(matches(R"(\p{L}+)", "x\u1C89\U00031350y"), "[x\u1C89\U00031350y]");
  EXPECT_EQ(matches(R"([^\p{L}\p{N}]+)", "\u1C89\U0001CCF0!"), "[!]");
  EXPECT_EQ(matches(R"(\P{L}+)", "\u1C89!?"), "[!?]");
}

// Members of a class below U+20000, as `tokenizers` 0.23.3 counts them.
std::size_t n_members(const Pattern& pattern) {
  Matcher matcher;
  std::size_t n = 0;
  for (char32_t code = 0; code < 0x20000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    if (const auto match = matcher.find(pattern, text, 0)) n += match->begin == 0 ? 1 : 0;
  }
  return n;
}

TEST(Pattern, WordCharactersAreThoseOfOniguruma) {
  struct Case {
    const char* regex;
    std::size_t n;
  };

  for (const auto& [regex, n] :
       {Case{R"(\w)", 73'805}, Case{R"([\w])", 73'799}, Case{R"(\W)", 55'219},
        Case{R"([^\w])", 55'225}, Case{R"([^\w\s])", 55'200}, Case{R"(\p{Alphabetic})", 72'133},
        Case{R"(\p{Han})", 28'404}, Case{R"(\p{L})", 70'402}, Case{R"(\p{N})", 1'911}}) {
    const auto pattern = Pattern::compile(regex);
    ASSERT_TRUE(pattern) << regex;
    EXPECT_EQ(n_members(*pattern), n) << regex;
  }
  EXPECT_EQ(matches(R"(\w+)", "aⅧ b²"), "[aⅧ][b²]");
  EXPECT_EQ(matches(R"([\w]+)", "aⅧ b²"), "[aⅧ][b]");
}

TEST(Pattern, WordBordersGoByTheSameCharacters) {
  // Wanted: Split(Regex(..), "removed", invert=True) of tokenizers 0.23.3.
  EXPECT_EQ(matches(R"(\b.+?\b)", "aⅧⒶ-b²\u0301 \u093fc"), "[aⅧⒶ][-][b²\u0301][ ][\u093fc]");
  EXPECT_EQ(matches(R"(.\B)", "aⅧⒶ--b²\u0301 c"), "[a][Ⅷ][-][b][²]");
  EXPECT_EQ(matches(R"([\b]a)",
                    "a\x08"
                    "a"),
            "[\x08"
            "a]");
}

TEST(Pattern, IgnoresCaseAsUnicodeFoldsIt) {
  EXPECT_EQ(matches("(?i:'s|'re)", "'S'\u017F'Re'x"), "['S]['\u017F]['Re]");
}

TEST(Pattern, AnchorsMatchAtEveryLine) {
  EXPECT_EQ(matches(R"(^a|b$)", "ab\nab"), "[a][b][a][b]");
}

TEST(Pattern, RefusesByNameWhatCannotBeRun) {
  EXPECT_EQ(
      matches(R"(a\h)", "a"),
      "the tokenizer's pattern 'a\\h' cannot be run: the pattern has \\h at byte 1, which is not "
      "supported: the escape has no meaning here");
  EXPECT_NE(matches("(a", "a").find("is not a regular expression"), std::string::npos);
  EXPECT_NE(matches("", "a").find("has 0 bytes, wick takes 1 to 4096"), std::string::npos);
}

TEST(Pattern, StopsAtItsLimitOfWorkAndSaysSo) {
  const std::string text(100'000, 'a');
  for (const char* const regex : {"(?:a|b)*c|a", "a+(?=bb)|a"}) {
    const auto pattern = Pattern::compile(regex);
    ASSERT_TRUE(pattern);
    Matcher matcher;
    std::size_t at = 0;
    while (const auto match = matcher.find(*pattern, text, at)) {
      at = match->end;
    }
    ASSERT_TRUE(matcher.error()) << regex;
    EXPECT_NE(matcher.error()->message.find(regex), std::string::npos);
    EXPECT_FALSE(matcher.find(*pattern, "ab", 0)) << "the error stays";
    matcher.begin();
    EXPECT_TRUE(matcher.find(*pattern, "aab", 0));
  }
}

TEST(Pattern, LiteralsAreFoundAsTheyAreWritten) {
  const auto pattern = Pattern::literal("a.▁");
  ASSERT_TRUE(pattern);
  Matcher matcher;
  const auto match = matcher.find(*pattern, "ab▁a.▁a.▁", 1);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->begin, 5U);
  EXPECT_EQ(match->end, 10U);
  EXPECT_FALSE(matcher.find(*pattern, "ab▁", 0));
}

constexpr const char* kNames[] = {
    "gpt-2",          "smollm",   "llama-bpe",  "qwen2",
    "qwen35",         "gpt-4o",   "tekken",     "deepseek-v3",
    "deepseek-coder", "falcon",   "dbrx",       "deepseek-llm",
    "kimi-k2",        "youtu",    "afmoe",      "bailingmoe",
    "seed-coder",     "ufakzeka", "exaone-moe", "jais-2",
    "bloom",          "viking",   "superbpe",   "tiny_aya",
    "laguna",         "minicpm5", "glm5",       "granite-embed-multi-97m"};

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

TEST(PreTokenizer, EveryKnownPatternSplitsAsBacktrackingDoes) {
  std::mt19937 random(20261121);
  for (const char* const name : kNames) {
    const auto info = find_pre_tokenizer(name);
    ASSERT_TRUE(info) << name;
    EXPECT_FALSE(info->patterns.empty()) << name;
    for (const std::string_view regex : info->patterns) {
      const auto pattern = Pattern::compile(regex);
      ASSERT_TRUE(pattern) << name << ": " << to_string(pattern.error());
      const auto tree = regex::parse_oniguruma(regex);
      ASSERT_TRUE(tree) << regex;
      for (int i = 0; i < 150; ++i) {
        const std::string text = random_text(random);
        const test::Backtracker backtracker(*tree, text);
        Matcher matcher;
        for (std::size_t at = 0; at < text.size();) {
          const auto match = matcher.find(*pattern, text, at);
          const auto wanted = backtracker.find(at);
          ASSERT_EQ(match.has_value(), wanted.has_value()) << regex << " on " << printable(text);
          if (!match) break;
          ASSERT_EQ(match->begin, wanted->begin) << regex << " on " << printable(text);
          ASSERT_EQ(match->end, wanted->end) << regex << " on " << printable(text);
          at = std::max(match->end,
                        match->begin + static_cast<std::size_t>(
                                           decode_utf8(text.substr(match->begin)).length));
        }
      }
    }
  }
  EXPECT_FALSE(find_pre_tokenizer("gpt"));
  EXPECT_FALSE(find_pre_tokenizer(""));
}

TEST(PreTokenizer, DigitsAreThoseOfUnicode17) {
  EXPECT_EQ(matches(digits_pattern(true), "a1\U00011DE4b\U00016FF5"),
            "[1][\U00011DE4][\U00016FF5]");
  EXPECT_EQ(matches(digits_pattern(false), "a1\U00011DE4b"), "[1\U00011DE4]");
}

TEST(PreTokenizer, PiecesTogetherAreTheText) {
  PreTokenizer pre;
  const auto info = find_pre_tokenizer("deepseek-v3");
  ASSERT_TRUE(info);
  for (const std::string_view regex : info->patterns) {
    auto pattern = Pattern::compile(regex);
    ASSERT_TRUE(pattern);
    pre.add({.pattern = *std::move(pattern)});
  }
  const std::string text = "abc 123456 \xFF\xC3 日本語\n\n x\xE2\x82y  ";
  SplitScratch scratch;
  pre.split(text, RunPlace::kTextStart, scratch);
  std::size_t at = 0;
  for (const Span piece : scratch.pieces) {
    EXPECT_EQ(piece.begin, at);
    EXPECT_GT(piece.end, piece.begin);
    at = piece.end;
  }
  EXPECT_EQ(at, text.size());
}

}  // namespace
}  // namespace wick
