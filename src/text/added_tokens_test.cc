// Added tokens of tokenizer.json where they meet words, white space and each other. The ids are
// those of Hugging Face's tokenizers 0.23.3.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace wick {
namespace {

using Ids = std::vector<TokenId>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

TokenizerPtr tokenizer_of(const std::string& json) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json);
  const auto tokenizer = Tokenizer::from(meta);
  EXPECT_TRUE(tokenizer) << json << ": " << to_string(tokenizer.error());
  return tokenizer ? *tokenizer : nullptr;
}

// Of an object with these members, all of `text` trusted.
Ids ids_of(const std::string& members, const std::string& text) {
  const TokenizerPtr tokenizer = tokenizer_of("{" + members + "}");
  return tokenizer ? *tokenizer->encode_special(text) : Ids{};
}

const std::string kLowercase = R"("normalizer": {"type": "Lowercase"},)";
const std::string kBytes = R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                                               "use_regex": false},)";

TEST(AddedTokens, AreNoWordsOfWordPieceUnlessItsVocabularyHasThem) {
  const auto ids = [](const std::string& vocab) {
    return ids_of(kLowercase + R"("pre_tokenizer": {"type": "BertPreTokenizer"},
        "added_tokens": [{"id": 3, "content": "foo"}], "model": {"type": "WordPiece",
        "unk_token": "[UNK]", "vocab": {)" +
                      vocab + "}}",
                  "FOO foo");
  };
  EXPECT_EQ(ids(R"("[UNK]": 0, "f": 1, "##o": 2)"), (Ids{1, 2, 2, 3}));
  EXPECT_EQ(ids(R"("[UNK]": 0, "f": 1, "##o": 2, "foo": 3)"), (Ids{3, 3}));
}

TEST(AddedTokens, AreNoWordsOfWordLevelUnlessItsVocabularyHasThem) {
  const auto ids = [](const std::string& vocab) {
    return ids_of(R"("pre_tokenizer": {"type": "Split", "pattern": {"String": "foo"},
                                       "behavior": "Isolated", "invert": false},
        "added_tokens": [{"id": 3, "content": "foo", "single_word": true}],
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {)" +
                      vocab + "}}",
                  "xfoo.foo");
  };
  EXPECT_EQ(ids(R"("<unk>": 0, "x": 1, ".": 2)"), (Ids{1, 0, 2, 3}));
  EXPECT_EQ(ids(R"("<unk>": 0, "x": 1, ".": 2, "foo": 3)"), (Ids{1, 3, 2, 3}));
}

TEST(AddedTokens, AreNoWordsOfBpeUnlessItsVocabularyHasThem) {
  const auto ids = [](const std::string& steps, const std::string& vocab) {
    return ids_of(kLowercase + steps + R"("added_tokens": [{"id": 2, "content": "foo"}],
        "model": {"type": "BPE", "ignore_merges": true, "merges": [], "vocab": {)" +
                      vocab + "}}",
                  "FOOfoo");
  };
  for (const std::string& steps : {std::string(), kBytes}) {
    EXPECT_EQ(ids(steps, R"("f": 0, "o": 1)"), (Ids{0, 1, 1, 2})) << steps;
    EXPECT_EQ(ids(steps, R"("f": 0, "o": 1, "foo": 2)"), (Ids{2, 2})) << steps;
  }
}

TEST(AddedTokens, OfOneCharacterAreSymbolsOfBpeWhereItsVocabularyHasThem) {
  const auto ids = [](const std::string& steps, const std::string& vocab, const char* text) {
    return ids_of(steps + R"("added_tokens": [{"id": 2, "content": "z", "single_word": true}],
        "model": {"type": "BPE", "merges": [], "unk_token": "u", "vocab": {)" +
                      vocab + "}}",
                  text);
  };
  EXPECT_EQ(ids("", R"("x": 0, "u": 1)", "xzz z"), (Ids{0, 1, 1, 1, 2}));
  EXPECT_EQ(ids("", R"("x": 0, "u": 1, "z": 2)", "xzz z"), (Ids{0, 2, 2, 1, 2}));
  EXPECT_EQ(ids(kBytes, R"("x": 0, "u": 1, "z": 2)", "xzz"), (Ids{0, 2, 2}));
}

TEST(AddedTokens, OfSingleWordsStandWhereNoWordOfUnicodeGoesOn) {
  const auto ids = [](const std::string& text) {
    return ids_of(R"("added_tokens": [{"id": 1, "content": "foo", "single_word": true}],
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0}})",
                  text);
  };
  // A joiner, Ⓐ, 🅰, a letter of Unicode 16, a mark, a digit, a number of letters, a connector.
  for (const char* const word : {"\u200d", "\u200c", "Ⓐ", "🅰", "\u1c89", "\u0301", "٣", "Ⅷ", "‿"}) {
    EXPECT_EQ(ids(word + std::string("foo")), Ids{0}) << word;
    EXPECT_EQ(ids(std::string("foo") + word), Ids{0}) << word;
  }
  // U+200B, an emoji, ² and ①, which are numbers of no word.
  for (const char* const other : {"\u200b", "🙂", "²", "①", "-", " "}) {
    EXPECT_EQ(ids(other + std::string("foo")), (Ids{0, 1})) << other;
    EXPECT_EQ(ids(std::string("foo") + other), (Ids{1, 0})) << other;
  }
}

// `added`: tokens 2 and 3 of a model that knows "x" (1) alone.
Ids ids_beside_x(const std::string& added, const std::string& text) {
  return ids_of(R"("added_tokens": [)" + added + R"(], "model": {"type": "WordLevel",
      "unk_token": "<unk>", "vocab": {"<unk>": 0, "x": 1}})",
                text);
}

struct Golden {
  const char* text;
  Ids ids;
};

void expect_all(const std::string& added, const std::vector<Golden>& goldens) {
  for (const Golden& golden : goldens) {
    EXPECT_EQ(ids_beside_x(added, golden.text), golden.ids) << added << " in '" << golden.text;
  }
}

TEST(AddedTokens, MayStartInTheWhiteSpaceThatAnotherTakes) {
  const std::string left = R"({"id": 2, "content": "<a>", "lstrip": true}, )";
  const std::string right = R"({"id": 2, "content": "<a>", "rstrip": true}, )";
  const std::string both = R"({"id": 2, "content": "<a>", "lstrip": true, "rstrip": true}, )";
  const std::string newline = R"({"id": 3, "content": "\n")";
  expect_all(right + newline + "}", {{"<a>\nx", {2, 3, 1}},
                                     {"<a> \n x", {2, 3, 0}},
                                     {"<a>\n\nx", {2, 3, 3, 1}},
                                     {"<a> \n", {2, 3}},
                                     {"x\n<a>", {1, 3, 2}}});
  expect_all(right + R"({"id": 3, "content": " x"})", {{"<a> x", {2, 3}}, {"<a>   xx", {2, 3, 1}}});
  expect_all(left + newline + "}", {{"x\n <a>", {1, 3, 2}}, {"x \n <a>x", {0, 3, 2, 1}}});
  expect_all(both + newline + "}", {{"<a>\n<a>", {2, 3, 2}}, {" <a> \n <a> x", {2, 3, 2, 1}}});
  expect_all(right + newline + R"(, "rstrip": true})", {{"<a>\n\nx", {2, 3, 3, 1}}});
  // Nothing is left for a newline that takes the space before it, too.
  expect_all(both + newline + R"(, "lstrip": true, "rstrip": true})",
             {{" <a>  <a> x", {2, 2, 1}}, {" <a> \n <a> x", {2, 2, 1}}, {"<a>\n\n x", {2, 1}}});
}

TEST(AddedTokens, ThatAreNormalizedAreLookedForInWhatTheOthersLeave) {
  const auto added = [](const char* first, const char* second) {
    return std::string(R"({"id": 2, "content": "bc", "normalized": )") + first +
           R"(}, {"id": 3, "content": "ab", "normalized": )" + second + "}";
  };
  expect_all(added("false", "true"), {{"abc", {0, 2}}, {"ab bc", {3, 0, 2}}, {"abbc", {3, 2}}});
  expect_all(added("true", "true"), {{"abc", {3, 0}}});
  expect_all(added("false", "false"), {{"abc", {3, 0}}});
}

TEST(PostProcessor, MayPutSeveralTokensForOneNameOrNone) {
  const auto tokenizer_with = [](const std::string& ids) {
    return tokenizer_of(R"({"post_processor": {"type": "TemplateProcessing", "single": [
        {"SpecialToken": {"id": "q", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "q", "type_id": 0}}], "special_tokens": {"q": {"ids": [)" +
                        ids + R"(]}}}, "model": {"type": "WordLevel", "unk_token": "<unk>",
        "vocab": {"<unk>": 0, "a": 1, "b": 2, "c": 3}}})");
  };
  const TokenizerPtr two = tokenizer_with("2, 3");
  const TokenizerPtr none = tokenizer_with("");
  ASSERT_TRUE(two && none);
  EXPECT_EQ(Ids(two->prefix().begin(), two->prefix().end()), (Ids{2, 3}));
  EXPECT_EQ(Ids(two->suffix().begin(), two->suffix().end()), (Ids{2, 3}));
  EXPECT_TRUE(none->prefix().empty() && none->suffix().empty());
}

}  // namespace
}  // namespace wick
