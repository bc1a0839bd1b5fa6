#include "text/pattern.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(Pattern, KnowsTheCharactersThatUnicodeGainedSincePcre2) {
  EXPECT_EQ(matches(R"(\p{L}+)", "x\u1C89\U00031350y"), "[x\u1C89\U00031350y]");
  EXPECT_EQ(matches(R"([^\p{L}\p{N}]+)", "\u1C89\U0001CCF0!"), "[!]");
  EXPECT_EQ(matches(R"(\P{L}+)", "\u1C89!?"), "[!?]");
}

TEST(Pattern, IgnoresCaseAsUnicodeFoldsIt) {
  EXPECT_EQ(matches("(?i:'s|'re)", "'S'\u017F'Re'x"), "['S]['\u017F]['Re]");
}

TEST(Pattern, AnchorsMatchAtEveryLine) {
  EXPECT_EQ(matches(R"(^a|b$)", "ab\nab"), "[a][b][a][b]");
}

TEST(Pattern, RefusesWhatMeansSomethingElseToPcre2) {
  for (const char* const regex :
       {R"(\h)", R"([a&&b]\b)", R"([a[b]]\b)", "a{1,2}+", "(?m:a)", "(*ANY)a", R"([\S]\b)", "\\"}) {
    EXPECT_NE(matches(regex, "a").find("which wick does not translate"), std::string::npos)
        << regex;
  }
  EXPECT_NE(matches("(a", "a").find("is not a regular expression"), std::string::npos);
}

TEST(Pattern, GivesUpInsteadOfBacktrackingForEver) {
  const auto pattern = Pattern::compile_pcre2("(a+)+b");
  ASSERT_TRUE(pattern);
  Matcher matcher;
  EXPECT_FALSE(matcher.find(*pattern, std::string(5000, 'a'), 0));
}

TEST(PreTokenizer, EveryNamedPatternCompiles) {
  for (const char* const name :
       {"gpt-2",          "smollm",   "llama-bpe",  "qwen2",
        "qwen35",         "gpt-4o",   "tekken",     "deepseek-v3",
        "deepseek-coder", "falcon",   "dbrx",       "deepseek-llm",
        "kimi-k2",        "youtu",    "afmoe",      "bailingmoe",
        "seed-coder",     "ufakzeka", "exaone-moe", "jais-2",
        "bloom",          "viking",   "superbpe",   "tiny_aya",
        "laguna",         "minicpm5", "glm5",       "granite-embed-multi-97m"}) {
    const auto info = find_pre_tokenizer(name);
    ASSERT_TRUE(info) << name;
    EXPECT_FALSE(info->patterns.empty()) << name;
    for (const std::string_view regex : info->patterns) {
      EXPECT_TRUE(Pattern::compile(regex)) << name << ": " << regex;
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
