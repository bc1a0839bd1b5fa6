// What files and texts may do to a tokenizer: an error that says what is wrong, or work in
// proportion to their size.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/strings.h"
#include "text/limits.h"
#include "text/normalizer.h"
#include "text/pattern.h"
#include "text/tokenizer.h"

namespace wick {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

// A byte-level vocabulary that knows a few letters and their merges.
Metadata byte_level(const std::string& pre = "gpt-2") {
  Metadata meta;
  meta.set_string("tokenizer.ggml.model", "gpt2");
  meta.set_string("tokenizer.ggml.pre", pre);
  meta.set_strings("tokenizer.ggml.tokens",
                   Strings{"a", "b", "Ġ", "aa", "ab", "Ġa", "<|x|>", "<t>", "aaaa", "Ċ", "ĠĠ"});
  meta.set_integers("tokenizer.ggml.token_type", Integers{1, 1, 1, 1, 1, 1, 3, 4, 1, 1, 1});
  meta.set_strings("tokenizer.ggml.merges", Strings{"a a", "a b", "Ġ a", "aa aa", "Ġ Ġ"});
  return meta;
}

Metadata sentence_piece() {
  Metadata meta;
  meta.set_string("tokenizer.ggml.model", "llama");
  meta.set_strings("tokenizer.ggml.tokens",
                   Strings{"<unk>", "<s>", "</s>", "<0xFF>", "▁", "a", "aa", "▁a", "é"});
  meta.set_integers("tokenizer.ggml.token_type", Integers{2, 3, 3, 6, 1, 1, 1, 1, 1});
  meta.set_numbers("tokenizer.ggml.scores", Numbers{0, 0, 0, 0, -9, -9, -1, -2, -9});
  return meta;
}

std::shared_ptr<const Tokenizer> must(const Metadata& meta) {
  auto result = Tokenizer::from(meta);
  EXPECT_TRUE(result) << to_string(result.error());
  return result ? *result : nullptr;
}

// The error of `meta` after `damage`; empty if it loads.
std::string error_of(Metadata meta, const std::function<void(Metadata&)>& damage) {
  damage(meta);
  const auto result = Tokenizer::from(meta);
  if (result) return "";
  EXPECT_FALSE(result.error().id.empty());
  return result.error().message;
}

std::string json_error(const std::string& json) {
  Metadata meta;
  return error_of(std::move(meta),
                  [&](Metadata& m) { m.set_string("tokenizer.huggingface.json", json); });
}

Json tiny_json() {
  return Json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3},
      "merges": ["a b"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
      "added_tokens": [{"id": 4, "content": "<|x|>", "special": true}]})");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HostileTokenizer, NamesWhatIsWrongWithGgufKeys) {
  const auto expect = [](const std::string& part, const std::function<void(Metadata&)>& damage) {
    const std::string error = error_of(byte_level(), damage);
    EXPECT_TRUE(has(error, part)) << "wanted '" << part << "' in '" << error << "'";
  };
  expect("'rwkv', wick reads", [](Metadata& m) { m.set_string("tokenizer.ggml.model", "rwkv"); });
  expect("tokens has 0", [](Metadata& m) { m.set_integer("tokenizer.ggml.tokens", 1); });
  expect("tokens has 0", [](Metadata& m) { m.set_strings("tokenizer.ggml.tokens", Strings{}); });
  expect("token_type has 2 entries for 11", [](Metadata& m) {
    m.set_integers("tokenizer.ggml.token_type", Integers{1, 1});
  });
  expect("of type 9",
         [](Metadata& m) { m.set_integers("tokenizer.ggml.token_type", Integers(11, 9)); });
  expect("token 1 repeats token 0, 'a'", [](Metadata& m) {
    m.set_strings("tokenizer.ggml.tokens",
                  Strings{"a", "a", "c", "d", "e", "f", "g", "h", "i", "j", "k"});
  });
  expect("merges is missing", [](Metadata& m) { m.set_integer("tokenizer.ggml.merges", 0); });
  expect("a gemma4 tokenizer needs it", [](Metadata& m) {
    m.set_string("tokenizer.ggml.model", "gemma4");
    m.set_integer("tokenizer.ggml.merges", 0);
  });
  expect("'no-such', a pre-tokenizer",
         [](Metadata& m) { m.set_string("tokenizer.ggml.pre", "no-such"); });
  expect("token 0 has 65537 bytes", [](Metadata& m) {
    m.set_strings("tokenizer.ggml.tokens", Strings{std::string(kMaxTokenBytes + 1, 'a')});
  });
  expect("has 300 bytes, wick takes 256", [](Metadata& m) {
    m.set_strings("tokenizer.ggml.tokens", Strings{"a", std::string(300, 'x')});
    m.set_integers("tokenizer.ggml.token_type", Integers{1, 3});
  });
}

TEST(HostileTokenizer, NamesWhatIsWrongWithScores) {
  const auto expect = [](const std::string& part, const Numbers& scores) {
    const std::string error = error_of(
        sentence_piece(), [&](Metadata& m) { m.set_numbers("tokenizer.ggml.scores", scores); });
    EXPECT_TRUE(has(error, part)) << error;
  };
  expect("scores has 3 entries for 9", {1, 2, 3});
  Numbers bad(9, 0);
  bad[4] = std::numeric_limits<double>::quiet_NaN();
  expect("score of token 4 is not a finite", bad);
  const std::string error = error_of(sentence_piece(), [](Metadata& m) {
    m.set_integers("tokenizer.ggml.token_type", Integers(9, 6));
  });
  EXPECT_TRUE(has(error, "called a byte but written")) << error;
}

TEST(HostileTokenizer, IdsOutOfTheVocabularyCountAsAbsent) {
  Metadata meta = byte_level();
  meta.set_integer("tokenizer.ggml.bos_token_id", 4'000'000'000);
  meta.set_integer("tokenizer.ggml.eos_token_id", -7);
  meta.set_boolean("tokenizer.ggml.add_bos_token", true);
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->bos(), -1);
  EXPECT_EQ(tokenizer->eos(), -1);
  EXPECT_TRUE(tokenizer->prefix().empty());
  EXPECT_EQ(tokenizer->bytes(-1), "");
  EXPECT_EQ(tokenizer->bytes(99), "");
  EXPECT_EQ(tokenizer->kind(99), TokenKind::kUnused);
}

TEST(HostileTokenizer, AnUnknownTokenThatIsCalledControlIsNoControlToken) {
  Metadata meta = sentence_piece();
  meta.set_integers("tokenizer.ggml.token_type", Integers{3, 3, 3, 6, 1, 1, 1, 1, 1});
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<TokenId> ids = *tokenizer->encode_plain("日");
  EXPECT_EQ(ids, (std::vector<TokenId>{4, 0}));
  EXPECT_EQ(tokenizer->kind(0), TokenKind::kUnknown);
}

TEST(HostileTokenizer, ATokenThatIsListedTwiceIsWhatTheLastListingSays) {
  for (const bool is_control : {false, true}) {
    Json file = tiny_json();
    file["added_tokens"][0]["special"] = !is_control;
    file["added_tokens"].push_back({{"id", 4}, {"content", "<|x|>"}, {"special", is_control}});
    Metadata meta;
    meta.set_string("tokenizer.huggingface.json", file.dump());
    const auto tokenizer = must(meta);
    ASSERT_NE(tokenizer, nullptr);
    EXPECT_EQ(tokenizer->kind(4), is_control ? TokenKind::kControl : TokenKind::kUserDefined);
    const auto ids = *tokenizer->encode_plain("ab<|x|>");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 4), is_control ? 0 : 1);
  }
}

TEST(HostileTokenizer, MergesThatNameNoTokensAreSkipped) {
  Metadata meta = byte_level();
  meta.set_strings("tokenizer.ggml.merges",
                   Strings{"", " ", "a", "a  b", "x y", "b b", "a <|x|>", "日 本", "a b"});
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(*tokenizer->encode_plain("ab"), std::vector<TokenId>{4});
}

TEST(HostileTokenizer, NamesThePartOfTokenizerJsonThatItDoesNotKnow) {
  const auto expect = [](const std::string& part, const char* patch) {
    Json json = tiny_json();
    json.merge_patch(Json::parse(patch));
    const std::string error = json_error(json.dump());
    EXPECT_TRUE(has(error, part)) << "wanted '" << part << "' in '" << error << "'";
  };
  expect("model has 'Morse'", R"({"model": {"type": "Morse"}})");
  expect("model has dropout", R"({"model": {"dropout": 0.1}})");
  expect("normalizer has 'Rot13'", R"({"normalizer": {"type": "Rot13"}})");
  expect("pre_tokenizer has 'Words'", R"({"pre_tokenizer": {"type": "Words"}})");
  expect("post_processor has 'Bert'", R"({"post_processor": {"type": "Bert"}})");
  const auto post = [](const std::string& ids) {
    return R"({"post_processor": {"type": "TemplateProcessing", "special_tokens": {"q": {"ids": )" +
           ids + R"(}}, "single": [{"SpecialToken": {"id": "q"}}]}})";
  };
  expect("names 'q', for which it lists no ids", post("7").c_str());
  expect("names 'q', which is no token", post("[0, 99]").c_str());
  expect("adds more than 1024 tokens", post(Json(Integers(1025, 0)).dump()).c_str());
  expect("decoder has 'Morse'", R"({"decoder": {"type": "Morse"}})");
  expect("a Replace of the regex 'a+'", R"({"decoder": {"type": "Replace", "content": "x",
      "pattern": {"Regex": "a+"}}})");
  expect("a Replace of ' ' behind ByteLevel", R"({"decoder": {"type": "Sequence", "decoders": [
      {"type": "ByteLevel"}, {"type": "Replace", "content": "_", "pattern": {"String": " "}}]}})");
  expect("a Strip of 2 ' ' at the start and 0 at the end", R"({"decoder": {"type": "Sequence",
      "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2, "stop": 0}]}})");
  expect("a Strip of 1 'a' at the start", R"({"decoder": {"type": "Sequence", "decoders": [
      {"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 1, "stop": 0}]}})");
  expect("at the end of each token", R"({"decoder": {"type": "Strip", "content": " ", "start": 1,
      "stop": 0}})");
  expect("a back-reference", R"({"pre_tokenizer": {"type": "Split", "behavior":
      "Isolated", "pattern": {"Regex": "(a)\\1"}}})");
  expect("is not a regular expression", R"({"pre_tokenizer": {"type": "Split", "behavior":
      "Isolated", "pattern": {"Regex": "(a"}}})");
  expect("'a' and 'b' have the same id 1", R"({"model": {"vocab": {"a": 1}}})");
  expect("has no id from 0", R"({"model": {"vocab": {"a": 123456789012}}})");
  expect("has no id from 0", R"({"added_tokens": [{"content": "x"}]})");
  expect("merge 0 joins 'a' and 'z'", R"({"model": {"merges": ["a z"]}})");
  expect("unk_token 'q' is no token", R"({"model": {"unk_token": "q"}})");
  const std::string sixty(60, 'a');
  const std::string step =
      R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" + sixty + "\"}";
  const std::string twice =
      R"({"normalizer": {"type": "Sequence", "normalizers": [)" + step + "," + step + "]}}";
  expect("3600 times longer, wick takes 1024", twice.c_str());
}

TEST(HostileTokenizer, RefusesWhatIsNoTokenizerJson) {
  EXPECT_TRUE(has(json_error(""), "not a JSON object"));
  EXPECT_TRUE(has(json_error("[1, 2]"), "not a JSON object"));
  EXPECT_TRUE(has(json_error("{}"), "model"));
  EXPECT_TRUE(has(json_error(std::string(1'000'000, '[')), "nesting"));
  const std::string whole = tiny_json().dump();
  EXPECT_EQ(json_error(whole), "");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(json_error(whole.substr(0, n)), "") << n << " bytes";
  }
}

std::string file_error(const char* key, const std::string& bytes) {
  Metadata meta;
  return error_of(std::move(meta), [&](Metadata& m) { m.set_string(key, bytes); });
}

// A field of a protocol buffer: a number, or bytes with their length.
std::string field(int number, std::string_view bytes) {
  return cat(static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size()), bytes);
}

std::string piece(std::string_view text, std::string_view score, char type) {
  const std::string number = cat(static_cast<char>(2 * 8 + 5), score);
  return field(1, cat(field(1, text), number, static_cast<char>(3 * 8), type));
}

constexpr std::string_view kMinusOne("\0\0\x80\xBF", 4);

std::string tiny_model() {
  return piece("<unk>", kMinusOne, 2) + piece("</s>", kMinusOne, 3) + piece("▁", kMinusOne, 1) +
         piece("a", kMinusOne, 1) + piece("▁a", kMinusOne, 1);
}

constexpr const char* kModelKey = "tokenizer.sentencepiece.model";

TEST(HostileTokenizer, ATruncatedTokenizerModelIsAnErrorOrAShorterOne) {
  const std::string whole = tiny_model();
  EXPECT_EQ(file_error(kModelKey, whole), "");
  int n_errors = 0;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    n_errors += file_error(kModelKey, whole.substr(0, n)).empty() ? 0 : 1;
  }
  EXPECT_EQ(n_errors, static_cast<int>(whole.size()) - 4);  // it may end behind any token
}

TEST(HostileTokenizer, NamesWhatIsWrongWithATokenizerModel) {
  const auto expect = [](const std::string& part, const std::string& bytes) {
    const std::string error = file_error(kModelKey, bytes);
    EXPECT_TRUE(has(error, part)) << "wanted '" << part << "' in '" << error << "'";
  };
  constexpr std::string_view kNan("\0\0\xC0\x7F", 4);
  expect("token 5 has 1 bytes", tiny_model() + piece("b", kNan, 1));
  expect("token 5 is of type 9", tiny_model() + piece("b", kMinusOne, 9));
  expect("called a byte but written 'b'", tiny_model() + piece("b", kMinusOne, 6));
  expect("has 0 tokens", field(7, "x"));
  expect("the model is of type 7", tiny_model() + field(2, std::string{3 * 8, 7}));
  expect("its array has 9 bytes, of 0", tiny_model() + field(3, field(2, {"\x09\0\0\0", 4})));
  expect("rewrites what a model says", tiny_model() + field(5, field(2, "abcd")));
}

// Units whose labels and offsets lead in circles, and replacements that a text could reach.
TEST(HostileTokenizer, ACyclicCharsmapEndsWithTheText) {
  std::string units;
  for (int i = 0; i < 512; ++i) {
    const std::uint32_t unit = static_cast<std::uint32_t>(i & 0xFF) | (i % 3 == 0 ? 0x100U : 0U);
    for (int byte = 0; byte < 4; ++byte) {
      units += static_cast<char>(static_cast<unsigned char>((unit >> (8 * byte)) & 0xFFU));
    }
  }
  const std::string size("\0\x08\0\0", 4);
  std::vector<std::int64_t> charsmap;
  for (const char c : size + units + std::string("xyz\0", 4)) {
    charsmap.push_back(static_cast<unsigned char>(c));
  }
  Metadata meta = sentence_piece();
  meta.set_string("tokenizer.ggml.model", "t5");
  meta.set_integers("tokenizer.ggml.precompiled_charsmap", charsmap);
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  const std::string text(100'000, 'a');
  EXPECT_LE(tokenizer->encode_plain(text)->size(), 4 * text.size());
  std::vector<std::int64_t> long_text = charsmap;
  long_text.insert(long_text.end(), 65, 'a');
  const std::string error = error_of(std::move(meta), [&](Metadata& m) {
    m.set_integers("tokenizer.ggml.precompiled_charsmap", long_text);
  });
  EXPECT_TRUE(has(error, "a replacement has 65 bytes, wick takes 64")) << error;
}

TEST(HostileTokenizer, NamesWhatIsWrongWithTekkenAndTiktokenFiles) {
  const auto expect = [](const std::string& part, const char* key, const std::string& bytes) {
    const std::string error = file_error(key, bytes);
    EXPECT_TRUE(has(error, part)) << "wanted '" << part << "' in '" << error << "'";
  };
  const std::string whole =
      R"({"config": {"pattern": "\\S+", "default_vocab_size": 4, "default_num_special_tokens": 2},
          "special_tokens": [{"rank": 0, "token_str": "<s>"}, {"rank": 1, "token_str": "</s>"}],
          "vocab": [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 1, "token_bytes": "Yg=="}]})";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = whole;
    return text.replace(text.find(from), from.size(), to);
  };
  constexpr const char* kTekken = "tokenizer.tekken.json";
  EXPECT_EQ(file_error(kTekken, whole), "");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(file_error(kTekken, whole.substr(0, n)), "") << n << " bytes";
  }
  expect("it wants 5 tokens, 2 of them special", kTekken, with("size\": 4", "size\": 5"));
  expect("it wants 4 tokens, 70000", kTekken, with("tokens\": 2", "tokens\": 70000"));
  expect("'Y!==', which is no base64", kTekken, with("Yg==", "Y!=="));
  expect("token 1 has the rank 7", kTekken,
         with("\"rank\": 1, \"token_b", "\"rank\": 7, \"token_b"));
  expect("repeats token 2", kTekken, with("Yg==", "YQ=="));
  constexpr const char* kTiktoken = "tokenizer.tiktoken.model";
  expect("line 2 of the tiktoken file is 'x'", kTiktoken, "YQ== 0\nx\n");
  expect("of no family that wick knows", kTiktoken, "YQ== 0\nYg== 1\n");
}

TEST(HostileTokenizer, AcceptsAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
  }
  const auto spm = must(sentence_piece());
  ASSERT_NE(spm, nullptr);
  EXPECT_EQ(spm->encode_plain("a\xFF\xE9")->size(), 3U);  // "▁a", the byte, and one unknown
  EXPECT_EQ(spm->decode(*spm->encode_plain("a\xFF")), "a\uFFFD");
  for (const char* const pre : {"gpt-2", "qwen2", "llama-bpe", "smollm", "deepseek-v3"}) {
    const auto tokenizer = must(byte_level(pre));
    ASSERT_NE(tokenizer, nullptr);
    // A bad byte cuts the text; what has no token is left out.
    EXPECT_EQ(*tokenizer->encode_plain("ab\x80"
                                       "ab"),
              (std::vector<TokenId>{4, 4}))
        << pre;
    *tokenizer->encode_plain(bytes + bytes);
  }
}

// A quadratic way through a megabyte would take an hour; the bound leaves room for sanitizers.
TEST(SlowTokenizer, TakesTimeInProportionToOneMegabyteOfAnything) {
  constexpr double kLimitSeconds = 60;
  const std::size_t n = 1'000'000;
  std::string marks;  // combining marks in the wrong order
  while (marks.size() < n) {
    marks += "\u0301\u0316";
  }
  std::string mixed;
  while (mixed.size() < n) {
    mixed += " \n  \t";
  }
  const Strings texts = {std::string(n, 'a'),
                         std::string(n, ' '),
                         std::string(n, '\n'),
                         std::string(n, '\xFF'),
                         std::string(n, '<'),
                         "a" + std::string(n, '-'),
                         std::string(n, ' ') + "a",
                         marks,
                         mixed};
  const auto called = [](const char* model) {
    Metadata meta = sentence_piece();
    meta.set_string("tokenizer.ggml.model", model);
    return meta;
  };
  for (const Metadata& meta : {byte_level("llama-bpe"), byte_level("qwen2"), sentence_piece(),
                               called("t5"), called("bert")}) {
    const auto tokenizer = must(meta);
    ASSERT_NE(tokenizer, nullptr);
    for (const std::string& text : texts) {
      EXPECT_LT(seconds([&] { EXPECT_TRUE(tokenizer->encode_special(text)); }), kLimitSeconds)
          << printable(text, 20);
    }
  }
}

Result<std::vector<TokenId>> encode_split_by(const std::string& regex, const std::string& text) {
  Json json = tiny_json();
  json["pre_tokenizer"] = {{"type", "Split"},
                           {"pattern", {{"Regex", regex}}},
                           {"behavior", "Isolated"},
                           {"invert", false}};
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  WICK_TRY(const auto tokenizer, Tokenizer::from(meta));
  return tokenizer->encode_plain(text);
}

TEST(HostileTokenizer, APatternThatCostsTheSquareOfATextIsAnErrorThatNamesIt) {
  const std::string text(100'000, 'a');
  for (const char* const regex :
       {"[a-z]+(?=12)|[a-z]", "[a-z]{1,500}[a-z]*(?=12)|a", "(?:a|b)*c|a"}) {
    const auto ids = encode_split_by(regex, text);
    ASSERT_FALSE(ids) << regex;
    EXPECT_EQ(ids.error().id, "tokenizer_work");
    EXPECT_EQ(ids.error().message, cat("the tokenizer's pattern '", regex, "' reads more than ",
                                       kMinVainBytes + kMaxVainBytes * text.size(),
                                       " bytes without a match in this text"));
    EXPECT_TRUE(encode_split_by(regex, "ab aab 12 b")) << regex;
  }
  EXPECT_TRUE(encode_split_by("[a-z](?=[a-z]*)", text));
  for (const char* const regex : {"(?:[a-z](?![a-z]*+9))*+8(?=q)|[a-z]", "(?:a*)*b", "(a|b)+\\1"}) {
    const auto ids = encode_split_by(regex, text);
    ASSERT_FALSE(ids) << regex;
    EXPECT_EQ(ids.error().id, "tokenizer_pattern");
  }
  for (const char* const regex : {"(?:a?){500}a{500}(?!a)|a", "(?:a{1,30}){1,30}b|a"}) {
    const auto ids = encode_split_by(regex, text);
    ASSERT_FALSE(ids) << regex;
    EXPECT_TRUE(ids.error().id == "tokenizer_pattern" || ids.error().id == "tokenizer_work");
  }
}

TEST(HostileTokenizer, APatternThatCountsFarTakesWhatPeopleWrite) {
  const auto tokenizer = must(byte_level("jais-2"));  // \s{512}(?!\S) and such
  ASSERT_NE(tokenizer, nullptr);
  std::string mixed;
  while (mixed.size() < 1'000'000) {
    mixed += "word  \n" + std::string(mixed.size() % 300, ' ') + "\t\n 12";
  }
  const Strings texts = {std::string(8'000, ' '), std::string(8'000, ' ') + "a",
                         std::string(1'000'000, 'a'), mixed};
  for (const std::string& text : texts) {
    EXPECT_TRUE(tokenizer->encode_plain(text)) << printable(text, 20);
  }
}

TEST(HostileTokenizer, APatternMayNotTakeItsWorkAnewInEachPiece) {
  Json json = tiny_json();
  for (const char* const regex : {" ", "a*b|[^a]"}) {
    json["pre_tokenizer"]["pretokenizers"].push_back({{"type", "Split"},
                                                      {"pattern", {{"Regex", regex}}},
                                                      {"behavior", "Isolated"},
                                                      {"invert", false}});
  }
  json["pre_tokenizer"]["type"] = "Sequence";
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  std::string text = std::string(3000, 'a') + " ";  // 4.5 million bytes read in vain
  EXPECT_TRUE(tokenizer->encode_plain(text));
  for (int i = 0; i < 3; ++i) {
    text += text;
  }
  const auto ids = tokenizer->encode_plain(text);
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().id, "tokenizer_work");
}

TEST(HostileTokenizer, AddedTokensThatReadATextAgainAndAgainAreAnError) {
  Json json = tiny_json();
  for (int i = 1; i < 250; ++i) {
    json["added_tokens"].push_back(
        {{"id", 4 + i}, {"content", std::string(static_cast<std::size_t>(i), 'a') + "b"}});
  }
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->encode_plain(std::string(249, 'a') + "b")->back(), 4 + 249);
  const auto ids = tokenizer->encode_plain(std::string(100'000, 'a'));
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().message,
            "the tokenizer's added tokens take more than 3265536 bytes read in vain, which is 32 "
            "for each byte of this text");
}

TEST(HostileTokenizer, APatternThatCountsFarIsRefused) {
  EXPECT_TRUE(encode_split_by(R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{1,2}(?!\S))", "a  b"));
  for (const char* const regex :
       {"a{2100}(?=q)", "(?:a{60}){60}(?=q)", "(?:a{500}b{500}c{500}){2}q\\b"}) {
    const auto ids = encode_split_by(regex, "a");
    ASSERT_FALSE(ids) << regex;
    EXPECT_TRUE(has(ids.error().message, "more than 2048 states")) << ids.error().message;
  }
}

TEST(HostileTokenizer, NormalizersThatBlowATextUpAreAnErrorThatSaysTheLimit) {
  Json json = tiny_json();
  for (int i = 0; i < 10; ++i) {
    json["normalizer"]["normalizers"].push_back(
        {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  }
  json["normalizer"]["type"] = "Sequence";
  Metadata meta;
  meta.set_string("tokenizer.huggingface.json", json.dump());
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->encode_plain("a")->size(), 1024U);  // 64 KiB are always allowed
  const auto ids = tokenizer->encode_plain(std::string(100'000, 'a'));
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().id, "tokenizer_growth");
  EXPECT_EQ(ids.error().message,
            "the tokenizer's steps make this text longer than 3265536 bytes, which is 32 for each "
            "of its bytes");
}

TEST(HostileTokenizer, ANormalizerThatBlowsUpTakesNoMoreMemoryThanItMay) {
  constexpr std::size_t kMost = 1'000'000;
  const auto regex = [] { return *Pattern::compile("a"); };
  for (int kind = 0; kind < 2; ++kind) {
    Normalizer steps;
    for (int i = 0; i < 2; ++i) {
      const std::string many(64, 'a');
      steps.add(kind == 0 ? make_replace("a", many) : make_replace(regex(), many));
    }
    NormalizerScratch scratch;
    scratch.most_bytes = kMost;
    EXPECT_EQ(steps.apply(std::string(100'000, 'a'), RunPlace::kTextStart, scratch), "");
    EXPECT_TRUE(scratch.is_overgrown);
    EXPECT_LE(scratch.a.capacity() + scratch.b.capacity(), 4 * kMost);
  }
}

TEST(HostileTokenizer, ManyControlTokensAreFoundInOnePass) {
  Metadata meta = byte_level();
  Strings tokens;
  for (int i = 0; i < 2000; ++i) {
    tokens.push_back(cat("<|", std::string(200, 'x'), i, "|>"));
  }
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  meta.set_integers("tokenizer.ggml.token_type", Integers(tokens.size(), 3));
  const auto tokenizer = must(meta);
  ASSERT_NE(tokenizer, nullptr);
  std::string text;
  std::vector<TokenId> wanted;
  for (int i = 0; i < 2000; ++i) {
    text += tokens[static_cast<std::size_t>(i)];
    text += "<|xxxxxx";  // looks like the start of all of them
    wanted.push_back(i);
  }
  EXPECT_LT(seconds([&] { EXPECT_EQ(*tokenizer->encode_special(text), wanted); }), 20);
}

TEST(FewestTokens, IsABoundThatDroppedBytesDoNotCountFor) {
  const auto tokenizer = must(byte_level());
  ASSERT_NE(tokenizer, nullptr);
  const std::string text(1000, 'a'), dropped(1000, 'z');  // the longest token is <|x|>
  EXPECT_EQ(tokenizer->fewest_tokens(text), 200U);
  EXPECT_EQ(tokenizer->encode_plain(text)->size(), 250U);
  EXPECT_EQ(tokenizer->fewest_tokens(dropped), 0U);
  EXPECT_EQ(tokenizer->encode_plain(dropped)->size(), 0U);
}

// A character without a token of its own or of its bytes becomes <unk>, a row of them one <unk>.
TEST(FewestTokens, AreNotKnownWhereAnUnknownTokenStandsForManyCharacters) {
  const auto tokenizer = must(sentence_piece());
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->fewest_tokens(std::string(1000, 'a')), 0U);
}

// A token that takes white space (lstrip) takes any amount of it.
TEST(FewestTokens, AreNotKnownWhereATokenTakesWhiteSpace) {
  Json json = tiny_json();
  const auto bound = [&] {
    Metadata meta;
    meta.set_string("tokenizer.huggingface.json", json.dump());
    return must(meta)->fewest_tokens(std::string(1000, 'a'));
  };
  EXPECT_EQ(bound(), 200U);
  json["added_tokens"][0]["lstrip"] = true;
  EXPECT_EQ(bound(), 0U);
}

}  // namespace
}  // namespace wick
