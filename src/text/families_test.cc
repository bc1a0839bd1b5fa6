// Files of SentencePiece, Mistral and tiktoken, with goldens made by their own libraries on our own
// texts (tools/goldens/text_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/strings.h"
#include "support/temp_dir.h"
#include "support/test_data.h"
#include "text/tokenizer.h"

namespace wick {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string data(const std::string& name) {
  return read(test::test_data("text") / name);
}

Json json(const std::string& name) {
  return Json::parse(data(name), nullptr, false);
}

TokenizerPtr must(Result<TokenizerPtr> result) {
  EXPECT_TRUE(result) << to_string(result.error());
  return result ? *result : nullptr;
}

Ids ids_of(std::span<const TokenId> ids) {
  return {ids.begin(), ids.end()};
}

void expect_golden(const Tokenizer& tokenizer, const Json& golden) {
  const Json texts = json("texts.json");
  ASSERT_EQ(golden["plain"].size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    SCOPED_TRACE(printable(text));
    const Ids ids = *tokenizer.encode_plain(text);
    EXPECT_EQ(ids, golden["plain"][i].get<Ids>());
    EXPECT_LE(tokenizer.fewest_tokens(text), ids.size());
    // SentencePiece takes a person's own "▁" at the start for its prefix, too, and drops it.
    if (text.starts_with("▁")) continue;
    if (!golden.contains("decoded") || !golden["decoded"].contains(std::to_string(i))) continue;
    EXPECT_EQ(tokenizer.decode(ids), golden["decoded"][std::to_string(i)].get<std::string>());
  }
}

TEST(SentencePieceFile, EqualsSentencePiece) {
  const Json cases = json("sentencepiece_cases.json");
  ASSERT_EQ(cases.size(), 6U);
  for (const Json& golden : cases) {
    const std::string name = golden["name"];
    SCOPED_TRACE(name);
    const TokenizerPtr tokenizer =
        must(Tokenizer::open(test::test_data("text") / (name + ".model")));
    ASSERT_NE(tokenizer, nullptr);
    expect_golden(*tokenizer, golden);
    EXPECT_EQ(tokenizer->bos(), golden["bos"].get<TokenId>());
    EXPECT_EQ(ids_of(tokenizer->prefix()), Ids{golden["bos"].get<TokenId>()});
    EXPECT_TRUE(tokenizer->is_end(golden["eos"].get<TokenId>()));
    EXPECT_EQ(*tokenizer->encode_special("</s>"), Ids{golden["eos"].get<TokenId>()});
  }
}

TEST(SentencePieceFile, TakesTokensAndHabitsFromTheConfigBesideIt) {
  const test::TempDir dir;
  std::ofstream(dir.path() / "tokenizer.model", std::ios::binary) << data("tiny_bpe_bytes.model");
  std::ofstream(dir.path() / "tokenizer_config.json")
      << R"({"add_bos_token": false, "add_eos_token": true, "eos_token": "<|end|>",
             "added_tokens_decoder": {"700": {"content": "<|end|>", "special": true},
                                      "702": {"content": "<tool>", "special": false}}})";
  const TokenizerPtr tokenizer = must(Tokenizer::open(dir.path()));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->size(), 703);
  EXPECT_EQ(*tokenizer->encode_special("<|end|><tool>"), (Ids{700, 702}));
  EXPECT_EQ(*tokenizer->encode_plain("<tool>"), Ids{702});
  EXPECT_TRUE(tokenizer->prefix().empty());
  EXPECT_EQ(ids_of(tokenizer->suffix()), Ids{700});
  EXPECT_TRUE(tokenizer->is_end(700));
}

TEST(SentencePieceFile, InASafetensorsFolderIsTheModelsTokenizer) {
  Metadata meta;
  meta.set_string("tokenizer.sentencepiece.model", data("tiny_unigram.model"));
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  const TokenizerPtr same = must(Tokenizer::open(test::test_data("text") / "tiny_unigram.model"));
  EXPECT_EQ(*tokenizer->encode_plain("The Software ﬁle"), *same->encode_plain("The Software ﬁle"));
}

TEST(TekkenFile, EqualsTiktokenWithMistralsOffset) {
  const TokenizerPtr tokenizer =
      must(Tokenizer::open(test::test_data("text") / "tiny_tekken.json"));
  ASSERT_NE(tokenizer, nullptr);
  expect_golden(*tokenizer, json("tiktoken_cases.json")[0]);
  EXPECT_EQ(tokenizer->encode_special("[INST]a</s>")->front(), 3);
  EXPECT_EQ(tokenizer->bytes(25), "<SPECIAL_25>");
  EXPECT_EQ(ids_of(tokenizer->prefix()), Ids{1});
  EXPECT_TRUE(tokenizer->is_end(2));
}

TEST(TiktokenFile, EqualsTiktokenWithTheFamilysPattern) {
  const test::TempDir dir;
  std::ofstream(dir.path() / "tiktoken.model") << data("tiny.tiktoken");
  std::ofstream(dir.path() / "tokenizer_config.json")
      << R"({"tokenizer_class": "TikTokenTokenizer", "bos_token": "[BOS]", "eos_token": "[EOS]",
             "added_tokens_decoder": {"900": {"content": "[BOS]", "special": true},
                                      "901": {"content": "[EOS]", "special": true}}})";
  const TokenizerPtr tokenizer = must(Tokenizer::open(dir.path()));
  ASSERT_NE(tokenizer, nullptr);
  expect_golden(*tokenizer, json("tiktoken_cases.json")[1]);
  EXPECT_EQ(tokenizer->bos(), 900);
  EXPECT_EQ(*tokenizer->encode_special("[EOS]"), Ids{901});
  EXPECT_TRUE(tokenizer->is_end(901));
}

TEST(TiktokenFile, OfAnUnknownFamilySaysWhatToGive) {
  Metadata meta;
  meta.set_string("tokenizer.tiktoken.model", data("tiny.tiktoken"));
  const auto result = Tokenizer::from(meta);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().id, "tokenizer_family");
  EXPECT_NE(result.error().hint.find("tokenizer_config.json"), std::string::npos);
}

// The keys that llama.cpp's converter writes for the same Unigram model.
TEST(UnigramGguf, EqualsTheTokenizerModelThatItWasMadeOf) {
  const auto path = test::test_data("text") / "tiny_unigram.model";
  const TokenizerPtr original = must(Tokenizer::open(path));
  ASSERT_NE(original, nullptr);
  const Json file = json("sentencepiece_gguf.json");
  Metadata meta;
  meta.set_string("tokenizer.ggml.model", "t5");
  meta.set_strings("tokenizer.ggml.tokens", file["tokens"].get<std::vector<std::string>>());
  meta.set_numbers("tokenizer.ggml.scores", file["scores"].get<std::vector<double>>());
  meta.set_integers("tokenizer.ggml.token_type", file["types"].get<std::vector<std::int64_t>>());
  meta.set_integers("tokenizer.ggml.precompiled_charsmap",
                    file["charsmap"].get<std::vector<std::int64_t>>());
  meta.set_integer("tokenizer.ggml.unknown_token_id", 0);
  meta.set_integer("tokenizer.ggml.eos_token_id", 2);
  meta.set_boolean("tokenizer.ggml.remove_extra_whitespaces", true);
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  for (const std::string text : json("texts.json")) {
    // In GGUF files user-defined tokens are added tokens, between which each run has its prefix.
    if (text.find("<tool>") != text.npos || text.find("://") != text.npos) continue;
    EXPECT_EQ(*tokenizer->encode_plain(text), *original->encode_plain(text)) << printable(text);
  }
  EXPECT_EQ(ids_of(tokenizer->suffix()), Ids{2});
}

// Texts of tokenizers 0.23.3 (decode). A stream shows the same.
TEST(Decoders, TokensAtTheEndsOfATextAreThoseOfTokenizers) {
  struct Case {
    Ids ids;
    std::string text;
  };

  const auto expect = [](const char* decoder, const char* model, const std::vector<Case>& cases) {
    Metadata meta;
    meta.set_string("tokenizer.huggingface.json",
                    cat(R"({"decoder": )", decoder, R"(, "model": )", model, "}"));
    const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
    ASSERT_NE(tokenizer, nullptr);
    for (const auto& [ids, text] : cases) {
      EXPECT_EQ(tokenizer->decode(ids), text) << decoder;
      TextStream stream(*tokenizer);
      std::string streamed;
      for (const TokenId id : ids)
        streamed += stream.push(id);
      streamed += stream.finish();
      EXPECT_EQ(streamed, text) << decoder;
    }
  };
  expect(R"({"type": "WordPiece", "prefix": "##", "cleanup": true})",
         R"({"type": "WordPiece", "unk_token": "[UNK]",
             "vocab": {"[UNK]": 0, "a": 1, "##c": 2, ".": 3, "##": 4, "##.": 5}})",
         {{{2, 1}, "##c a"},
          {{1, 2}, "ac"},
          {{2, 2}, "##cc"},
          {{4, 1}, "## a"},
          {{1, 4}, "a"},
          {{5, 1}, "##. a"},
          {{3, 1}, ". a"},
          {{1, 3}, "a."},
          {{1, 5}, "a."}});
  expect(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"})",
         R"({"type": "WordLevel", "unk_token": "[UNK]",
             "vocab": {"[UNK]": 0, "▁a": 1, "▁▁b": 2, "▁": 3, "c▁d": 4, "e": 5}})",
         {{{1, 1}, "a a"},
          {{2, 2}, "b  b"},
          {{3, 1}, " a"},
          {{3, 3, 1}, "  a"},
          {{4, 4}, "cdc d"},
          {{5, 1}, "e a"},
          {{3}, ""}});
  expect(R"({"type": "BPEDecoder", "suffix": "</w>"})",
         R"({"type": "WordLevel", "unk_token": "[UNK]",
             "vocab": {"[UNK]": 0, "a</w>": 1, "b": 2, " ": 3, "a</w>b</w>": 4}})",
         {{{1, 1}, "a a"},
          {{1, 2}, "a b"},
          {{2, 3}, "b "},
          {{3, 3}, "  "},
          {{4, 4}, "a b ab"},
          {{1, 3}, "a  "}});
}

TEST(WordPieceGguf, EqualsTheTokenizerJsonThatItWasMadeOf) {
  const Json file = json("tiny_wordpiece.json");
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", file.dump());
  const TokenizerPtr original = must(Tokenizer::from(meta));
  ASSERT_NE(original, nullptr);
  std::vector<std::string> tokens(file["model"]["vocab"].size());
  std::vector<std::int64_t> types(tokens.size(), 1);
  for (const auto& [text, id] : file["model"]["vocab"].items()) {
    const bool is_control = text.front() == '[' && text.back() == ']' && text.size() > 1;
    const bool goes_on = text.starts_with("##");
    const auto at = id.get<std::size_t>();
    types[at] = is_control ? 3 : 1;
    tokens[at] = is_control ? text : goes_on ? text.substr(2) : "▁" + text;
  }
  Metadata gguf;
  gguf.set_string("tokenizer.ggml.model", "bert");
  gguf.set_strings("tokenizer.ggml.tokens", tokens);
  gguf.set_integers("tokenizer.ggml.token_type", types);
  gguf.set_integer("tokenizer.ggml.unknown_token_id", 1);
  gguf.set_integer("tokenizer.ggml.cls_token_id", 2);
  gguf.set_integer("tokenizer.ggml.seperator_token_id", 3);
  const TokenizerPtr tokenizer = must(Tokenizer::from(gguf));
  ASSERT_NE(tokenizer, nullptr);
  for (const std::string text : json("texts.json")) {
    // GGUF has no word for the longest word, and none for a "▁" in the text itself.
    if (text.size() > 20 || text.find("▁") != text.npos) continue;
    EXPECT_EQ(*tokenizer->encode_plain(text), *original->encode_plain(text)) << printable(text);
  }
  EXPECT_EQ(ids_of(tokenizer->prefix()), Ids{2});
  EXPECT_EQ(ids_of(tokenizer->suffix()), Ids{3});
  EXPECT_EQ(tokenizer->decode(*tokenizer->encode_plain("The Software is ")), "the software is");
}

std::string streamed(const Tokenizer& tokenizer, const Ids& ids) {
  std::string text;
  TextStream stream(tokenizer);
  for (const TokenId id : ids) {
    text += stream.push(id);
  }
  return text += stream.finish();
}

TEST(CtcDecoder, ShowsARepeatedTokenOnceAndTheBlankNotAtAll) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", R"({"model": {"type": "WordLevel", "unk_token":
      "<u>", "vocab": {"<pad>": 0, "|": 1, "a": 2, "b": 3, "<u>": 4}}, "decoder": {"type": "CTC",
      "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": false}})");
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  const Ids ids = {2, 2, 0, 2, 1, 1, 3, 3};
  EXPECT_EQ(tokenizer->decode(ids), "aa b");
  EXPECT_EQ(streamed(*tokenizer, ids), "aa b");
}

TEST(StripDecoder, DropsOneSpaceAtEachEndOfTheFusedText) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", R"({"model": {"type": "BPE", "vocab": {"▁": 0,
      "▁a": 1}, "merges": []}, "decoder": {"type": "Sequence", "decoders": [{"type": "Replace",
      "pattern": {"String": "▁"}, "content": " "}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 1}]}})");
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  const Ids ids = {0, 1, 0, 0};
  EXPECT_EQ(tokenizer->decode(ids), " a ");
  EXPECT_EQ(streamed(*tokenizer, ids), " a ");
}

TEST(BpeDecoder, LeavesTheLastWordsSpaceOut) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", R"({"model": {"type": "BPE", "end_of_word_suffix":
      "</w>", "vocab": {"a": 0, "b</w>": 1, "ab</w>": 2}, "merges": ["a b</w>"]}, "pre_tokenizer":
      {"type": "WhitespaceSplit"}, "decoder": {"type": "BPEDecoder", "suffix": "</w>"}})");
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  const Ids ids = *tokenizer->encode_plain("ab ab");
  EXPECT_EQ(ids, (Ids{2, 2}));
  EXPECT_EQ(tokenizer->decode(ids), "ab ab");
  TextStream stream(*tokenizer);
  EXPECT_EQ(stream.push(2), "ab");
  EXPECT_EQ(stream.push(2), " ab");
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace wick
