#include "text/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
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

TEST(Pattern, KnowsTheCharactersThatUnicodeGainedSincePcre2) {
  EXPECT_EQ(matches(R"(\p{L}+)", "x\u1C89\U00031350y"), "[x\u1C89\U00031350y]");
  EXPECT_EQ(matches(R"([^\p{L}\p{N}]+)", "\u1C89\U0001CCF0!"), "[!]");
  EXPECT_EQ(matches(R"(\P{L}+)", "\u1C89!?"), "[!?]");
}

// Members of a class below U+20000, as `tokenizers` 0.23.3 counts them and as both engines do.
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
    const auto own = Pattern::compile(regex);
    ASSERT_TRUE(own && own->automaton() != nullptr) << regex;
    EXPECT_EQ(n_members(*own), n) << regex;
    const auto pcre2 = Pattern::compile_pcre2(regex);
    ASSERT_TRUE(pcre2) << regex;
    EXPECT_EQ(n_members(*pcre2), n) << regex << " by PCRE2";
  }
  const auto emoji = Pattern::compile(R"(\p{Emoji})");
  ASSERT_TRUE(emoji);
  EXPECT_EQ(n_members(*emoji), 1'431U);
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

TEST(Pattern, RefusesWhatMeansSomethingElseToPcre2) {
  for (const char* const regex :
       {R"(\h)", R"([a&&b]\b)", R"([a[b]]\b)", "a{1,2}+", "(?m:a)", "(*ANY)a", R"([\S]\b)", "\\"}) {
    EXPECT_NE(matches(regex, "a").find("which wick does not translate"), std::string::npos)
        << regex;
  }
  EXPECT_NE(matches("(a", "a").find("is not a regular expression"), std::string::npos);
}

TEST(Pattern, CountedCharactersAreAStepForSixteen) {
  EXPECT_EQ(*to_pcre2("a{500}"), "(?:(?:a{16}|(?!)){31}a{4,4})");
  EXPECT_EQ(*to_pcre2("[ab]{32}c"), "(?:(?:[ab]{16}|(?!)){2})c");
  EXPECT_EQ(*to_pcre2("a{20,45}?b{3}"), "(?:(?:a{16}|(?!)){1}a{4,29}?)b{3,3}");
  const std::string forty(40, 'a'), some(17, 'a');
  EXPECT_EQ(matches("a{20,45}?(?=b)|a{17}\\b", cat(forty, "b ", some)),
            cat("[", forty, "][", some, "]"));
  EXPECT_EQ(matches("日+\\b", "日日x 日"), "[日]");
}

TEST(Pattern, StopsAtItsLimitOfStepsAndSaysSo) {
  const std::string text(5000, 'a');
  for (const char* const regex : {"(a+)+(?=b)", "a*a*a*a*(?=b)"}) {
    const auto pattern = Pattern::compile_pcre2(regex);
    ASSERT_TRUE(pattern);
    Matcher matcher;
    EXPECT_FALSE(matcher.find(*pattern, text, 0));
    ASSERT_TRUE(matcher.error());
    EXPECT_NE(matcher.error()->message.find(regex), std::string::npos);
    EXPECT_LE(matcher.steps(), kMaxPatternSteps + kMaxPatternStepsPerByte * text.size());
    EXPECT_FALSE(matcher.find(*pattern, "ab", 0)) << "the error stays";
    matcher.begin();
    EXPECT_TRUE(matcher.find(*pattern, "aab", 0));
  }
}

// Matches longer than what PCRE2 sees at first, at any place of its window.
TEST(Pattern, LongMatchesAreThoseOfShortOnes) {
  for (const std::size_t before : {0U, 1U, 200U, 254U, 255U, 256U, 257U, 1000U}) {
    for (const std::size_t run : {1U, 2U, 255U, 256U, 257U, 300U, 5000U}) {
      const std::string text = std::string(before, 'b') + std::string(run, 'a') + "\u00e9x";
      const auto of = [&](const char* regex) {
        const auto pattern = Pattern::compile_pcre2(regex);
        EXPECT_TRUE(pattern) << regex;
        Matcher matcher;
        const auto match = matcher.find(*pattern, text, 0);
        EXPECT_FALSE(matcher.error()) << regex;
        return match ? std::pair(match->begin, match->end) : std::pair(text.size(), text.size());
      };
      EXPECT_EQ(of("a+"), std::pair(before, before + run));
      EXPECT_EQ(of("a++"), std::pair(before, before + run));
      EXPECT_EQ(of("a+(?=\u00e9x)"), std::pair(before, before + run));
      EXPECT_EQ(of("a+?(?!a)"), std::pair(before, before + run));
      EXPECT_EQ(of("(?<=a)\u00e9"), std::pair(before + run, before + run + 2));
      EXPECT_EQ(of("(?:a{1,3})(?=(?:a{3})*(?!a))"), std::pair(before, before + (run - 1) % 3 + 1));
      EXPECT_EQ(of("x$"), std::pair(before + run + 2, before + run + 3));
      EXPECT_EQ(of("y"), std::pair(text.size(), text.size()));
    }
  }
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
