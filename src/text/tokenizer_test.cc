// Goldens made by Hugging Face's tokenizers 0.23.3 on our own texts
// (tools/goldens/text_goldens.py).
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/strings.h"
#include "support/temp_dir.h"
#include "support/test_data.h"

namespace wick {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return Json::parse(file, nullptr, false);
}

Json data(const std::string& name) {
  return read_json(test::test_data("text") / name);
}

TokenizerPtr must(Result<TokenizerPtr> result) {
  EXPECT_TRUE(result) << to_string(result.error());
  return result ? *result : nullptr;
}

TokenizerPtr from_json(const Json& json) {
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  return must(Tokenizer::from(meta));
}

// The GGUF keys that say what `json` says, with the pre-tokenizer `pre`.
Metadata gguf_of(const Json& json, const std::string& pre) {
  const Json& model = json["model"];
  std::vector<std::string> tokens(model["vocab"].size());
  for (const auto& [text, id] : model["vocab"].items()) {
    tokens[id.get<std::size_t>()] = text;
  }
  std::vector<std::int64_t> types(tokens.size(), 1);
  for (const Json& added : json["added_tokens"]) {
    const auto id = added["id"].get<std::size_t>();
    tokens.resize(std::max(tokens.size(), id + 1));
    types.resize(tokens.size(), 1);
    tokens[id] = added["content"];
    types[id] = added["special"] ? 3 : 4;
  }
  std::vector<std::string> merges;
  for (const Json& merge : model["merges"]) {
    merges.push_back(cat(merge[0].get<std::string>(), " ", merge[1].get<std::string>()));
  }
  Metadata meta;
  meta.set_string("tokenizer.ggml.model", "gpt2");
  meta.set_string("tokenizer.ggml.pre", pre);
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  meta.set_integers("tokenizer.ggml.token_type", types);
  meta.set_strings("tokenizer.ggml.merges", merges);
  return meta;
}

// Checks every text of `golden`; `skip` says which texts do not apply.
template <class Skip>
void expect_golden(const Tokenizer& tokenizer, const Json& golden, const Skip& skip) {
  const Json texts = data("texts.json");
  ASSERT_EQ(golden["plain"].size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    if (skip(text)) continue;
    SCOPED_TRACE(printable(text));
    const std::string key = std::to_string(i);
    const Ids plain = golden["plain"][i];
    const Ids trusted = golden["trusted"].contains(key) ? golden["trusted"][key].get<Ids>() : plain;
    const std::string decoded =
        golden["decoded"].contains(key) ? golden["decoded"][key].get<std::string>() : text;
    EXPECT_EQ(*tokenizer.encode_plain(text), plain);
    EXPECT_EQ(*tokenizer.encode_special(text), trusted);
    EXPECT_LE(tokenizer.fewest_tokens(text), std::min(plain.size(), trusted.size()));
    EXPECT_EQ(tokenizer.decode(trusted), decoded);
  }
}

void expect_golden(const Tokenizer& tokenizer, const Json& golden) {
  expect_golden(tokenizer, golden, [](const std::string&) { return false; });
}

Ids ids_of(std::span<const TokenId> ids) {
  return {ids.begin(), ids.end()};
}

TEST(Tokenizer, ReadsTokenizerJsonAsHuggingFaceDoes) {
  const Json cases = data("tiny_cases.json");
  ASSERT_GE(cases.size(), 43U);
  for (const Json& golden : cases) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    Json json = data(golden["base"].get<std::string>() + ".json");
    json.merge_patch(golden["patch"]);
    const TokenizerPtr tokenizer = from_json(json);
    ASSERT_NE(tokenizer, nullptr);
    // Hugging Face takes "<0x0A>" in a text for the byte, wick, as SentencePiece, for those
    // letters; and it shows the added token "각" as the normalizer writes it, wick as the file
    // does.
    const bool has_scored_bytes = golden["name"] == "unigram with bytes";
    const bool splits_hangul = golden["name"] == "NFD and fixed length";
    expect_golden(*tokenizer, golden, [&](const std::string& text) {
      return (has_scored_bytes && text.find("<0x") != text.npos) ||
             (splits_hangul && text.find("각") != text.npos);
    });
    EXPECT_EQ(ids_of(tokenizer->prefix()), golden["prefix"].get<Ids>());
    EXPECT_EQ(ids_of(tokenizer->suffix()), golden["suffix"].get<Ids>());
  }
}

TEST(Tokenizer, ReadsGgufKeysAsHuggingFaceReadsTheSameTokenizerJson) {
  int n = 0;
  for (const Json& golden : data("tiny_cases.json")) {
    const std::string pre = golden["pre"];
    if (pre.empty()) continue;
    SCOPED_TRACE(pre);
    const TokenizerPtr tokenizer = must(Tokenizer::from(gguf_of(data("tiny_bpe.json"), pre)));
    ASSERT_NE(tokenizer, nullptr);
    // GGUF has no lstrip, rstrip, single_word and normalized: leave out the texts that need them.
    expect_golden(*tokenizer, golden, [](const std::string& text) {
      return text.find("word") != text.npos || text.find("pad") != text.npos ||
             text.find("각") != text.npos;
    });
    ++n;
  }
  EXPECT_EQ(n, 19);
}

TEST(Tokenizer, MergesByScoresAsHuggingFaceMergesThem) {
  const Json spm = data("tiny_spm.json");
  const Json golden = data("tiny_scored.json");
  Metadata meta = gguf_of(spm, "default");
  meta.set_string("tokenizer.ggml.model", "llama");
  meta.set_numbers("tokenizer.ggml.scores", golden["scores"].get<std::vector<double>>());
  std::vector<std::int64_t> types(golden["scores"].size(), 1);
  types[0] = 2;
  types[1] = types[2] = 3;
  std::fill_n(types.begin() + 3, 256, 6);
  meta.set_integers("tokenizer.ggml.token_type", types);
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  expect_golden(*tokenizer, golden);
  EXPECT_EQ(ids_of(tokenizer->prefix()), Ids{1});
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_TRUE(tokenizer->is_end(2));
  EXPECT_TRUE(tokenizer->decoding().strips_leading_space);
}

TEST(Tokenizer, MergesCharactersByPairsForGemma4) {
  const std::vector<std::string> tokens = {"<pad>",  "<eos>", "<bos>", "<unk>", "<0xC3>",
                                           "<0xA9>", "\n",    "\n\n",  "▁",     "a",
                                           "▁a",     "aa",    "b",     "▁aa"};
  Metadata meta;
  meta.set_string("tokenizer.ggml.model", "gemma4");
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  meta.set_integers("tokenizer.ggml.token_type",
                    std::vector<std::int64_t>{3, 3, 3, 3, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1});
  meta.set_strings("tokenizer.ggml.merges",
                   std::vector<std::string>{"\n \n", "a a", "▁ a", "▁a a", "▁ aa", "b zz"});
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(*tokenizer->encode_plain("aa aa\n\n\n é b"), (Ids{11, 13, 7, 6, 8, 4, 5, 8, 12}));
  EXPECT_EQ(tokenizer->decode(*tokenizer->encode_plain(" aa\n é b")), " aa\n é b");
  EXPECT_EQ(ids_of(tokenizer->prefix()), Ids{2});
}

TEST(Tokenizer, TakesControlTokensFromTrustedSpansOnly) {
  const TokenizerPtr tokenizer = from_json(data("tiny_bpe.json"));
  ASSERT_NE(tokenizer, nullptr);
  const TokenId end = tokenizer->encode_special("<|end|>")->at(0);
  EXPECT_EQ(tokenizer->kind(end), TokenKind::kControl);
  MarkedText marked;
  marked.append("x<|end|>", false);
  marked.append("<|end|>", true);
  marked.append("<|en", false);
  marked.append("d|>", true);
  Ids ids;
  ASSERT_TRUE(tokenizer->encode(marked, ids));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), end), 1);
  EXPECT_EQ(tokenizer->decode(ids), "x<|end|><|end|>");
}

TEST(Tokenizer, BordersOfTrustDoNotCutPieces) {
  const TokenizerPtr tokenizer = from_json(data("tiny_bpe.json"));
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "The Software is furnished  to do so 123";
  const Ids whole = *tokenizer->encode_plain(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    MarkedText marked;
    marked.append(std::string_view(text).substr(0, cut), true);
    marked.append(std::string_view(text).substr(cut), false);
    Ids ids;
    ASSERT_TRUE(tokenizer->encode(marked, ids));
    EXPECT_EQ(ids, whole) << "cut at " << cut;
  }
}

TEST(Tokenizer, NeverMakesControlTokensOutOfPlainText) {
  const TokenizerPtr tokenizer = from_json(data("tiny_spm.json"));
  ASSERT_NE(tokenizer, nullptr);
  for (const char* const text : {"<s>", "</s>", "x</s>y", " </s>", "<unk>"}) {
    const Ids ids = *tokenizer->encode_plain(text);
    for (const TokenId id : ids) {
      EXPECT_NE(tokenizer->kind(id), TokenKind::kControl) << text;
    }
    EXPECT_EQ(tokenizer->decode(*tokenizer->encode_plain(text)), text);
  }
}

TEST(Tokenizer, AppendsToWhatIsThere) {
  const TokenizerPtr tokenizer = from_json(data("tiny_bpe.json"));
  ASSERT_NE(tokenizer, nullptr);
  Ids ids = {7};
  ASSERT_TRUE(tokenizer->encode(MarkedText{.text = "a"}, ids));
  EXPECT_EQ(ids.at(0), 7);
  EXPECT_EQ(ids.size(), 2U);
}

TEST(Tokenizer, GivesTheSameIdsFromManyThreads) {
  const TokenizerPtr tokenizer = from_json(data("tiny_bpe.json"));
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "Permission is hereby granted,\n  free of charge <tool> 12 naïve";
  const Ids expected = *tokenizer->encode_plain(text);
  std::vector<std::thread> threads;
  std::vector<int> equal(4);
  for (int& n : equal) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        n += *tokenizer->encode_plain(text) == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(equal, std::vector<int>(4, 50));
}

TEST(Tokenizer, OpensATokenizerJsonWithItsConfigBesideIt) {
  const test::TempDir dir;
  std::ofstream(dir.path() / "tokenizer.json") << data("tiny_bpe.json").dump();
  std::ofstream(dir.path() / "tokenizer_config.json")
      << R"({"eos_token": {"content": "<|end|>"}, "bos_token": "<|start|>"})";
  const TokenizerPtr tokenizer = must(Tokenizer::open(dir.path() / "tokenizer.json"));
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->bytes(tokenizer->eos()), "<|end|>");
  EXPECT_EQ(tokenizer->bytes(tokenizer->bos()), "<|start|>");
}

// With config.json it is a model's folder, here one whose weights are elsewhere.
TEST(Tokenizer, OpensAFolderWithoutWeights) {
  const test::TempDir dir;
  const auto nothing = Tokenizer::open(dir.path());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().id, "missing_tokenizer");
  EXPECT_NE(nothing.error().hint.find("tokenizer.json"), std::string::npos);
  std::ofstream(dir.path() / "config.json") << "{}";
  EXPECT_FALSE(Tokenizer::open(dir.path()));
  std::ofstream(dir.path() / "tokenizer.json") << data("tiny_bpe.json").dump();
  EXPECT_TRUE(Tokenizer::open(dir.path()));
}

TEST(Tokenizer, FindsEndsByIdAndByText) {
  Metadata meta = gguf_of(data("tiny_bpe.json"), "gpt-2");
  meta.set_integer("tokenizer.ggml.eos_token_id", 5);
  meta.set_integer("tokenizer.ggml.eot_token_id", 6);
  const std::vector<std::int64_t> more = {8, 7, 1'000'000, -1};
  meta.set_integers("wick.end_token_ids", more);
  const TokenizerPtr tokenizer = must(Tokenizer::from(meta));
  ASSERT_NE(tokenizer, nullptr);
  Ids wanted = {5, 6, 7, 8};
  for (const char* const text : {"<|end|>", "<|endoftext|>"}) {
    wanted.push_back(tokenizer->encode_special(text)->at(0));
  }
  EXPECT_EQ(ids_of(tokenizer->ends()), wanted);
  EXPECT_FALSE(tokenizer->is_end(-1));
}

TEST(Tokenizer, GptOssEndsItsTurnsButNotItsMessages) {
  Json json = data("tiny_bpe.json");
  const auto id = json["added_tokens"].back()["id"].get<int>();
  Json token = json["added_tokens"][0];
  for (const char* const text : {"<|return|>", "<|call|>"}) {
    token["id"] = id + 1 + (text[2] == 'c' ? 1 : 0);
    token["content"] = text;
    json["added_tokens"].push_back(token);
  }
  const TokenizerPtr tokenizer = from_json(json);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_TRUE(tokenizer->is_end(id + 1));
  EXPECT_TRUE(tokenizer->is_end(id + 2));
  EXPECT_FALSE(tokenizer->is_end(tokenizer->encode_special("<|end|>")->at(0)));
}

TEST(ModelTokenizer, DefaultModelEqualsHuggingFace) {
  for (const Json& golden : data("model_cases.json")) {
    if (golden["name"] != "smollm2") continue;
    const TokenizerPtr tokenizer = must(Tokenizer::open(test::default_model()));
    ASSERT_NE(tokenizer, nullptr);
    expect_golden(*tokenizer, golden);
    EXPECT_EQ(tokenizer->size(), 49152);
    EXPECT_EQ(ids_of(tokenizer->ends()), (Ids{0, 2}));
    EXPECT_TRUE(tokenizer->prefix().empty());
    EXPECT_FALSE(tokenizer->decoding().strips_leading_space);
    return;
  }
  FAIL() << "model_cases.json has no smollm2";
}

// A person who types every control token, alone, in a row, or behind half of one that the template
// wrote, gets none; of all tokenizers that are here.
TEST(ModelTokenizer, APersonsTextHoldsNoControlToken) {
  std::vector<std::filesystem::path> paths = {test::default_model()};
  std::error_code none;
  for (const auto& folder :
       std::filesystem::directory_iterator(test::cache() / "tokenizers", none)) {
    paths.push_back(folder.path() / "tokenizer.json");
  }
  int n = 0;
  for (const auto& path : paths) {
    SCOPED_TRACE(path);
    const auto tokenizer = Tokenizer::open(path);
    if (!tokenizer && tokenizer.error().code == ErrorCode::kUnsupported) continue;
    ASSERT_TRUE(tokenizer) << to_string(tokenizer.error());
    MarkedText text;
    for (TokenId id = 0; id < (*tokenizer)->size(); ++id) {
      if ((*tokenizer)->kind(id) != TokenKind::kControl) continue;
      const std::string_view control = (*tokenizer)->bytes(id);
      text.append(control, false);
      text.append(control.substr(0, control.size() / 2), true);
      text.append(control.substr(control.size() / 2), false);
      text.append(" ", false);
    }
    n += text.text.empty() ? 0 : 1;  // some files name none
    Ids ids;
    ASSERT_TRUE((*tokenizer)->encode(text, ids));
    const auto control = std::find_if(ids.begin(), ids.end(), [&](TokenId id) {
      return (*tokenizer)->kind(id) == TokenKind::kControl;
    });
    EXPECT_EQ(control, ids.end()) << printable((*tokenizer)->bytes(*control));
  }
  EXPECT_GE(n, std::getenv("WICK_TEST_ALL_TOKENIZERS") != nullptr ? 7 : 1);
}

// tools/fetch_test_data brings the files where npm exists; .ci/run sees to that and asks for all
// six.
TEST(ModelTokenizer, RealTokenizerFilesEqualHuggingFace) {
  const bool needs_all = std::getenv("WICK_TEST_ALL_TOKENIZERS") != nullptr;
  for (const Json& golden : data("model_cases.json")) {
    const std::string name = golden["name"];
    const auto file = std::filesystem::path("tokenizers") / name / "tokenizer.json";
    if (name == "smollm2") continue;
    SCOPED_TRACE(name);
    if (!std::filesystem::exists(test::cache() / file) && !needs_all) continue;
    const TokenizerPtr tokenizer = must(Tokenizer::open(test::fetched(file)));
    ASSERT_NE(tokenizer, nullptr);
    expect_golden(*tokenizer, golden);
    EXPECT_EQ(ids_of(tokenizer->prefix()), golden["prefix"].get<Ids>());
  }
}

}  // namespace
}  // namespace wick
