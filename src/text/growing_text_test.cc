// Ids of a growing text against those of one encode() of all of it, over every kind of tokenizer in
// tests/data/text: random texts, in random parts, asked for at random moments.
#include "text/growing_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/strings.h"
#include "format/metadata.h"
#include "support/test_data.h"

namespace wick {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

Json data(const std::string& name) {
  std::ifstream file(test::test_data("text") / name);
  return Json::parse(file, nullptr, false);
}

// What texts are made of: the words that pre-tokenizers cut at, marks that normalisers join, and
// bytes that are no characters.
std::vector<std::string> bricks(const Tokenizer& tokenizer) {
  std::vector<std::string> out = {"the",
                                  " the",
                                  " ",
                                  "  ",
                                  "      ",
                                  "\n",
                                  "\r\n",
                                  "\t",
                                  "hello",
                                  "'s",
                                  "'S",
                                  "'ll",
                                  "1",
                                  "2024",
                                  "3.14",
                                  "e\u0301",
                                  "\u0301",
                                  "é",
                                  "ﬁ",
                                  "日本",
                                  "中",
                                  "한국",
                                  "\u1112",
                                  "\u1161",
                                  "\u11AB",
                                  "привет",
                                  "▁",
                                  "▁▁",
                                  "👩‍👩‍👧",
                                  "()",
                                  "{\n",
                                  "!=",
                                  "...",
                                  "</s",
                                  "<|",
                                  "|>",
                                  "<",
                                  "\xFF",
                                  "\xE2\x82",
                                  "\xF0\x9F",
                                  "\x80",
                                  std::string("\0", 1),
                                  "word",
                                  "_a",
                                  "x",
                                  "\u00A0",
                                  "\u3000"};
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    const TokenKind kind = tokenizer.kind(id);
    if (kind != TokenKind::kControl && kind != TokenKind::kUserDefined) continue;
    const std::string text(tokenizer.bytes(id));
    out.push_back(text);
    if (text.size() > 1) out.push_back(text.substr(0, text.size() / 2));
    if (out.size() > 120) break;
  }
  return out;
}

std::string shown(const MarkedText& text) {
  std::string out = printable(text.text, 2000);
  for (const Span& span : text.trusted)
    out += cat(" trusted ", span.begin, "-", span.end);
  return out;
}

void expect_equal_to_one_shot(const Tokenizer& tokenizer, unsigned seed, int n_texts) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> parts = bricks(tokenizer);
  for (int n = 0; n < n_texts; ++n) {
    GrowingText kept(tokenizer);
    GrowingText passing(tokenizer);
    MarkedText whole;
    Ids passed;
    const std::size_t n_parts = 1 + below(40);
    const std::size_t n_kinds = 1 + below(parts.size());  // few kinds: long runs of the same
    for (std::size_t i = 0; i < n_parts; ++i) {
      const bool is_trusted = below(3) == 0;
      const std::string& part =
          parts[(below(n_kinds) + static_cast<std::size_t>(n)) % parts.size()];
      whole.append(part, is_trusted);
      kept.append(part, is_trusted);
      passing.append(part, is_trusted);
      if (below(3) == 0) {
        Ids wanted;
        ASSERT_TRUE(tokenizer.encode(whole, wanted));
        const auto got = *kept.ids();
        ASSERT_EQ(Ids(got.begin(), got.end()), wanted) << shown(whole);
      }
      if (below(2) == 0) {
        const auto got = *passing.settled();
        passed.insert(passed.end(), got.begin(), got.end());
        passing.forget_settled();
      }
    }
    Ids wanted;
    ASSERT_TRUE(tokenizer.encode(whole, wanted));
    const auto rest = *passing.ids();
    passed.insert(passed.end(), rest.begin(), rest.end());
    ASSERT_EQ(passed, wanted) << shown(whole);
  }
}

// The words of tiny_spm as a Unigram, WordPiece or WordLevel model has them.
Json with_model(const std::string& type) {
  constexpr std::string_view kMark = "▁";
  Json json = data("tiny_spm.json");
  json["normalizer"] = json["post_processor"] = json["decoder"] = nullptr;
  std::vector<std::string> words(json["model"]["vocab"].size());
  for (const auto& [text, id] : json["model"]["vocab"].items()) {
    words[id.get<std::size_t>()] = text;
  }
  Json scored = Json::array();
  Json numbered = {{"[UNK]", words.size()}};
  for (std::size_t id = 0; id < words.size(); ++id) {
    const std::string& word = words[id];
    scored.push_back({word, -0.01 * static_cast<double>(id)});
    const bool is_start = word.starts_with(kMark) && word.size() > kMark.size();
    if (type == "WordPiece" && id > 2) {
      numbered[is_start ? word.substr(kMark.size()) : cat("##", word)] = id;
    } else {
      numbered[word] = id;
    }
  }
  const Json vocab = type == "Unigram" ? scored : numbered;
  json["model"] = {{"type", type}, {"vocab", vocab}, {"unk_id", 0}, {"unk_token", "[UNK]"}};
  return json;
}

struct Family {
  std::string name;
  TokenizerPtr tokenizer = nullptr;
  bool settles = true;  // between added tokens
};

struct FamilyRow {
  std::string_view base, patch;
  bool settles;
};

// Beside tests/data/text: the other models, normalisers and rewriting pre-tokenizers. What looks at
// all of a run settles nothing.
const FamilyRow kMoreFamilies[] = {
    {"Unigram", R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}})", true},
    {"Unigram", R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "split": false}})",
     false},
    {"Unigram", R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁"}]}})",
     true},
    {"Unigram", R"({"normalizer": {"type": "Nmt"}, "pre_tokenizer": {"type": "Sequence",
        "pretokenizers": [{"type": "Whitespace"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]}})",
     true},
    {"Unigram", R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": true}, {"type": "Metaspace", "replacement": "▁"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]}})",
     false},
    {"WordPiece", R"({"normalizer": {"type": "BertNormalizer", "strip_accents": false},
        "pre_tokenizer": {"type": "BertPreTokenizer"}})",
     true},
    {"WordPiece", R"({"normalizer": {"type": "BertNormalizer"},
        "pre_tokenizer": {"type": "BertPreTokenizer"}})",
     false},
    {"WordPiece", R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"},
        {"type": "StripAccents"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Whitespace"}})",
     true},
    {"WordLevel", R"({"pre_tokenizer": {"type": "Punctuation"}})", true},
    {"WordLevel", R"({"pre_tokenizer": {"type": "FixedLength", "length": 3}})", true},
    {"WordLevel", R"({"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": " "}})", true},
    {"tiny_bpe", R"({"normalizer": {"type": "Lowercase"}})", true},
    {"tiny_bpe", R"({"normalizer": {"type": "StripAccents"}})", true},
    {"tiny_bpe", R"({"normalizer": {"type": "NFD"}})", false},
    {"tiny_bpe", R"({"normalizer": {"type": "NFKC"}})", false},
    {"tiny_bpe", R"({"normalizer": {"type": "Strip"}})", false},
    {"tiny_bpe", R"({"normalizer": {"type": "Replace", "pattern": {"Regex": " +"},
        "content": " "}})",
     false},
    {"tiny_bpe", R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace",
        "pattern": {"String": " "}, "content": "\u0301"}, {"type": "NFC"}]}})",
     false},
    {"tiny_bpe", R"({"model": {"end_of_word_suffix": "</w>"}})", true},
    {"tiny_bpe", R"({"added_tokens": [{"id": 600, "content": "<|start|>", "special": true},
        {"id": 601, "content": "tok", "single_word": true, "normalized": true}],
        "pre_tokenizer": {"type": "Digits", "individual_digits": true}})",
     false},
    {"tiny_bpe", R"({"added_tokens": [{"id": 600, "content": "<|start|>", "special": true,
        "rstrip": true}, {"id": 601, "content": "\n"}, {"id": 602, "content": "  the"},
        {"id": 603, "content": "\t", "lstrip": true, "rstrip": true}]})",
     true},
    {"tiny_bpe", R"({"normalizer": null, "added_tokens": [{"id": 600, "content": "he"},
        {"id": 601, "content": "the", "normalized": true, "rstrip": true},
        {"id": 602, "content": "\n", "normalized": true}, {"id": 603, "content": "  ",
        "lstrip": true}]})",
     true},
    {"tiny_spm", R"({"normalizer": {"type": "Replace", "pattern": {"String": "e"}, "content": ""},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}})",
     false},
};

TokenizerPtr tokenizer_of(Json json, const Json& patch) {
  json.merge_patch(patch);
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  auto tokenizer = Tokenizer::from(meta);
  EXPECT_TRUE(tokenizer) << patch << ": " << to_string(tokenizer.error());
  return tokenizer ? *std::move(tokenizer) : nullptr;
}

// Of the goldens, those that settle nothing: a pattern that PCRE2 runs, a normaliser or a model
// that may look at a whole run.
bool settles_nothing(const std::string& name) {
  constexpr std::string_view kNames[] = {"bailingmoe",
                                         "jais-2",
                                         "tiny_aya",
                                         "NFD and fixed length",
                                         "prefix space behind a split",
                                         "unigram",
                                         "unigram with bytes",
                                         "unigram, words",
                                         "unigram as ALBERT",
                                         "unigram, Nmt and NFKC",
                                         "wordpiece",
                                         "wordpiece, whitespace",
                                         "word level",
                                         "prefixes and suffixes",
                                         "bytes spelled by the normalizer"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::vector<Family> families() {
  std::vector<Family> out;
  for (const Json& golden : data("tiny_cases.json")) {
    const Json base = data(golden["base"].get<std::string>() + ".json");
    const std::string name = golden["name"];
    out.push_back({name, tokenizer_of(base, golden["patch"]), !settles_nothing(name)});
  }
  for (const FamilyRow& row : kMoreFamilies) {
    const std::string base(row.base);
    const Json json = base.starts_with("tiny") ? data(base + ".json") : with_model(base);
    out.push_back(
        {cat(base, " ", row.patch), tokenizer_of(json, Json::parse(row.patch)), row.settles});
  }
  return out;
}

TEST(GrowingText, HasTheIdsOfOneEncodeForEveryKindOfTokenizer) {
  const auto all = families();
  ASSERT_GE(all.size(), 18U + std::size(kMoreFamilies));
  for (const auto& [name, tokenizer, settles] : all) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(tokenizer);
    expect_equal_to_one_shot(*tokenizer, 1, 400);
    if (HasFatalFailure()) return;
  }
}

std::size_t open_bytes_of_prose(const Tokenizer& tokenizer) {
  GrowingText text(tokenizer);
  for (int i = 0; i < 200; ++i) {
    text.append("The 7 quick foxes, as they say; jumped over 12 dogs.\n\nAnd so on. ", false);
    static_cast<void>(text.settled());
  }
  return text.open_bytes();
}

TEST(GrowingText, SettlesAllButTheLastPieces) {
  for (const auto& [name, tokenizer, settles] : families()) {
    SCOPED_TRACE(name);
    if (settles) {
      EXPECT_LT(open_bytes_of_prose(*tokenizer), 80U);
    } else {
      EXPECT_GT(open_bytes_of_prose(*tokenizer), 10'000U);
    }
  }
}

TEST(GrowingText, KeepsItsMemorySmallWhereNoPieceEnds) {
  const auto all = families();
  GrowingText text(*all.front().tokenizer);
  const std::string run(1 << 12, 'a');
  for (int i = 0; i < 64; ++i) {
    text.append(run, false);
    static_cast<void>(text.settled());
  }
  Ids wanted = *all.front().tokenizer->encode_plain(std::string(64 << 12, 'a'));
  const auto got = *text.ids();
  EXPECT_EQ(Ids(got.begin(), got.end()), wanted);
}

TEST(GrowingText, TakesAPartWithItsMarks) {
  const auto all = families();
  const Tokenizer& tokenizer = *all.front().tokenizer;
  std::string control;
  for (TokenId id = 0; id < tokenizer.size() && control.empty(); ++id) {
    if (tokenizer.kind(id) == TokenKind::kControl) control = tokenizer.bytes(id);
  }
  MarkedText part;
  part.append("a ", false);
  part.append(control, true);
  part.append(control, false);
  GrowingText text(tokenizer);
  text.append(part);
  text.append(part);
  MarkedText whole = part;
  whole.append("a ", false);
  whole.append(control, true);
  whole.append(control, false);
  Ids wanted;
  ASSERT_TRUE(tokenizer.encode(whole, wanted));
  const auto got = *text.ids();
  EXPECT_EQ(Ids(got.begin(), got.end()), wanted);
}

// All that tools/fetch_test_data brought; .ci/run asks for the six that it brings unasked.
TEST(ModelGrowingText, HasTheIdsOfOneEncodeForRealTokenizers) {
  int n = 0;
  std::error_code none;
  for (const auto& folder :
       std::filesystem::directory_iterator(test::cache() / "tokenizers", none)) {
    SCOPED_TRACE(folder.path());
    const auto tokenizer = Tokenizer::open(folder.path() / "tokenizer.json");
    if (!tokenizer && tokenizer.error().code == ErrorCode::kUnsupported) continue;
    ASSERT_TRUE(tokenizer) << to_string(tokenizer.error());
    expect_equal_to_one_shot(**tokenizer, 2, 200);
    if (HasFatalFailure()) return;
    ++n;
  }
  if (std::getenv("WICK_TEST_ALL_TOKENIZERS") != nullptr) {
    EXPECT_GE(n, 6) << "run tools/fetch_test_data";
  }
}

}  // namespace
}  // namespace wick
