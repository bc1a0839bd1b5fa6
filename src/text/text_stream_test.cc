#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "text/tokenizer.h"

namespace wick {
namespace {

// Tokens of any bytes; no encoding.
class TokenList final : public Tokenizer {
 public:
  explicit TokenList(std::vector<std::pair<std::string, TokenKind>> tokens, bool strips = false)
      : tokens_(std::move(tokens)) {
    decoding_.strips_leading_space = strips;
    for (const auto& [text, kind] : tokens_) {
      longest_ = std::max(longest_, text.size());
    }
  }

  Result<void> encode(const MarkedText&, std::vector<TokenId>&) const override { return {}; }

  std::string_view bytes(TokenId id) const noexcept override {
    return tokens_[static_cast<std::size_t>(id)].first;
  }

  TokenKind kind(TokenId id) const noexcept override {
    return tokens_[static_cast<std::size_t>(id)].second;
  }

  int size() const noexcept override { return static_cast<int>(tokens_.size()); }

 private:
  std::vector<std::pair<std::string, TokenKind>> tokens_;
};

TokenList normal(const std::vector<std::string>& texts, bool strips = false) {
  std::vector<std::pair<std::string, TokenKind>> tokens;
  for (const std::string& text : texts) {
    tokens.emplace_back(text, TokenKind::kNormal);
  }
  return TokenList(std::move(tokens), strips);
}

TokenList all_bytes() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) {
    texts.emplace_back(1, static_cast<char>(byte));
  }
  return normal(texts);
}

TokenId id_of(char byte) {
  return static_cast<unsigned char>(byte);
}

// What the stream showed, each push between bars.
std::string shown(TextStream stream, const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) {
    out += stream.push(id);
    out += '|';
  }
  out += stream.finish();
  return out;
}

TEST(TextStream, NeverShowsHalfACharacter) {
  const TokenList tokens = normal({"\xF0\x9F", "\x98\x80x", "\xC3", "\xA9"});
  EXPECT_EQ(shown(TextStream(tokens), {0, 1, 2, 3}), "|😀x||é|");
}

TEST(TextStream, ReplacesWhatCanNeverBecomeACharacter) {
  const TokenList tokens = normal({"a\xFF", "\xE2\x82", "b", "\xE2"});
  EXPECT_EQ(shown(TextStream(tokens), {0, 1, 2, 3}), "a\uFFFD||\uFFFDb||\uFFFD");
}

TEST(TextStream, DropsOneSpaceAtTheStartOfSentencePieceTextOnly) {
  const TokenList spm = normal({" a", " b", ""}, true);
  EXPECT_EQ(shown(TextStream(spm), {2, 0, 1}), "|a| b|");
  EXPECT_EQ(shown(TextStream(spm, true), {0, 1}), " a| b|");
  EXPECT_EQ(shown(TextStream(normal({" a"})), {0}), " a|");
}

TEST(TextStream, ShowsTheControlTokensThatItIsTold) {
  const TokenList tokens({{"a", TokenKind::kNormal},
                          {"<|x|>", TokenKind::kControl},
                          {"<|y|>", TokenKind::kControl}});
  EXPECT_EQ(shown(TextStream(tokens, false, {}, {2}), {0, 1, 2, 0}), "a||<|y|>|a|");
}

TEST(TextStream, HidesControlTokensAndGoesOnBehindThem) {
  const TokenList tokens({{"\xC3", TokenKind::kNormal},
                          {"<|x|>", TokenKind::kControl},
                          {"\xA9", TokenKind::kByte},
                          {"<tool>", TokenKind::kUserDefined}});
  EXPECT_EQ(shown(TextStream(tokens), {0, 1, 2, 3, 1}), "||é|<tool>||");
}

TEST(TextStream, HoldsBackWhatMayBecomeAStopString) {
  const TokenList tokens = normal({"a<", "/", "b", "stop>", "later"});
  TextStream stream(tokens, false, {"</stop>"});
  EXPECT_EQ(stream.push(0), "a");
  EXPECT_EQ(stream.push(1), "");
  EXPECT_EQ(stream.push(2), "</b");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(shown(TextStream(tokens, false, {"</stop>"}), {0, 1, 3, 4}), "a||||");
}

TEST(TextStream, ShowsWhatItHeldBackWhenNoStopCame) {
  const TokenList tokens = normal({"abc", "</st"});
  TextStream stream(tokens, false, {"</stop>", ""});
  EXPECT_EQ(stream.push(0), "abc");
  EXPECT_EQ(stream.push(1), "");
  EXPECT_EQ(stream.finish(), "</st");
  EXPECT_FALSE(stream.stopped());
}

TEST(TextStream, StopsAtTheStringThatIsCompleteFirst) {
  const TokenList tokens = normal({"xabcdx"});
  TextStream stream(tokens, false, {"abcd", "bc"});
  EXPECT_EQ(stream.push(0), "xa");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.push(0), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, ShowsTheSameTextHoweverItIsCutIntoTokens) {
  const std::string text = "a\xE2\x82\xAC\xFF b\xF0\x9F\x98\x80 aab\xC3 aaab end STOP more";
  const TokenList bytes = all_bytes();
  const std::vector<std::string> stops = {"aaab e", "STOP", "aabx"};
  std::vector<TokenId> ids;
  for (const char byte : text) {
    ids.push_back(id_of(byte));
  }
  const auto joined = [&](TextStream stream, const std::vector<TokenId>& list) {
    std::string out;
    for (const TokenId id : list) {
      out += stream.push(id);
    }
    return out += stream.finish();
  };
  const std::string expected = joined(TextStream(bytes, false, stops), ids);
  EXPECT_EQ(expected, "a€\uFFFD b😀 aab\uFFFD ");
  for (std::size_t a = 1; a < text.size(); ++a) {
    for (std::size_t b = a; b < text.size(); b += 3) {
      const TokenList parts = normal({text.substr(0, a), text.substr(a, b - a), text.substr(b)});
      EXPECT_EQ(joined(TextStream(parts, false, stops), {0, 1, 2}), expected) << a << " " << b;
    }
  }
}

TEST(TextStream, EqualsDecodeOfTheWhole) {
  const TokenList tokens = normal({" \xE4\xBD", "\xA0", " x", "\xC3", "y"}, true);
  const std::vector<TokenId> ids = {0, 1, 2, 3, 4, 3};
  std::string streamed;
  TextStream stream(tokens);
  for (const TokenId id : ids) {
    streamed += stream.push(id);
  }
  streamed += stream.finish();
  EXPECT_EQ(streamed, tokens.decode(ids));
}

}  // namespace
}  // namespace wick
