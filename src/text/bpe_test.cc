// The fast ways to merge against the plain one: find the lowest rank, leftmost, again and again.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "base/hot_scope.h"
#include "base/strings.h"
#include "support/hot_counters.h"
#include "text/pipeline.h"

namespace wick {
namespace {

struct Tokens {
  Vocab vocab = {};
  BpeModel model = {};
};

// All bytes, and `n` merges of random neighbors in `text`, the way a vocabulary is trained: so
// that tokens end within characters as real ones do. `is_shuffled`: in any order of ranks, as only
// a damaged file has them.
Tokens random_tokens(std::mt19937& random, std::string_view text, int n, bool is_shuffled = false) {
  Tokens made;
  std::vector<std::uint32_t> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0U);
  if (is_shuffled) std::shuffle(ranks.begin(), ranks.end(), random);
  made.model.pairs.reserve(static_cast<std::size_t>(n));
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    made.vocab.add(std::string_view(&c, 1), TokenKind::kNormal);
    made.model.byte_ids[static_cast<std::size_t>(byte)] = byte;
  }
  std::vector<TokenId> ids;
  for (const char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  for (const std::uint32_t rank : ranks) {
    if (ids.size() < 2) break;
    const std::size_t at = random() % (ids.size() - 1);
    const TokenId left = ids[at];
    const TokenId right = ids[at + 1];
    const TokenId both = made.vocab.size();
    made.vocab.add(cat(made.vocab.bytes(left), made.vocab.bytes(right)), TokenKind::kNormal);
    EXPECT_TRUE(made.model.pairs.add(left, right, {rank, both}));
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      if (ids[i] != left || ids[i + 1] != right) continue;
      ids[i] = both;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  made.model.prepare(made.vocab);
  return made;
}

std::vector<TokenId> plainly(const Tokens& tokens, std::string_view piece) {
  std::vector<TokenId> ids;
  for (const char c : piece) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  for (;;) {
    Merge best{.rank = UINT32_MAX};
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merge merge = tokens.model.pairs.find(ids[i], ids[i + 1]);
      if (merge.id >= 0 && merge.rank < best.rank) {
        best = merge;
        where = i;
      }
    }
    if (best.id < 0) return ids;
    ids[where] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

std::string random_piece(std::mt19937& random, std::size_t characters) {
  static const char* const kCharacters[] = {"日", "本", "本", "語", "é", "è", "и", "й", "👍",
                                            "👎",  "a",  "a",  "b",  " ", "=", "=", "가"};
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    const std::string character = kCharacters[random() % std::size(kCharacters)];
    for (auto times = random() % 8 == 0 ? 1 + random() % 4 : 1; times > 0; --times) {
      text += character;
    }
  }
  if (random() % 8 == 0 && !text.empty()) text[random() % text.size()] = '\xE6';
  return text;
}

TEST(Bpe, MergesAsThePlainWayDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const Tokens tokens = random_tokens(random, random_piece(random, 800), 20 + round * 8);
    BpeScratch scratch;
    for (int i = 0; i < 60; ++i) {
      const std::string piece = random_piece(random, 1 + random() % (i % 10 == 0 ? 300 : 20));
      std::vector<TokenId> ids;
      tokens.model.encode(piece, tokens.vocab, scratch, ids);
      ASSERT_EQ(ids, plainly(tokens, piece)) << printable(piece);
    }
  }
}

std::string repeated(std::size_t n, std::string_view text) {
  std::string all;
  for (; n > 0; --n) {
    all += text;
  }
  return all;
}

TEST(Bpe, MergesLongRunsAsThePlainWayDoes) {
  std::mt19937 random(4);
  for (int round = 0; round < 24; ++round) {
    const Tokens tokens =
        random_tokens(random, std::string(200, 'a') + std::string(200, '='), 40, round % 2 == 1);
    BpeScratch scratch;
    for (const std::size_t n : {65U, 100U, 257U, 1000U}) {
      for (const std::string& piece :
           {std::string(n, 'a'), std::string(n, '=') + std::string(n / 2, 'a') + "=a",
            repeated(n, "a=") + repeated(n / 3, "aa=") + repeated(n / 4, "=aa===")}) {
        std::vector<TokenId> ids;
        tokens.model.encode(piece, tokens.vocab, scratch, ids);
        ASSERT_EQ(ids, plainly(tokens, piece)) << n;
      }
    }
  }
}

TEST(WordCache, FindsWhatWasAddedAndNothingElse) {
  WordCache cache;
  std::mt19937 random(1);
  std::map<std::string, TokenId> added;
  for (TokenId i = 0; i < 3000; ++i) {
    std::string word;
    for (auto n = 1 + random() % WordCache::kMaxBytes; n > 0; --n) {
      word += static_cast<char>(random() % 3);
    }
    const TokenId id = added.emplace(word, i).first->second;
    if (const auto ids = cache.find(word); !ids.empty()) {
      ASSERT_EQ(ids.size(), 1U);
      ASSERT_EQ(ids[0], id);
    }
    cache.add(word, {&id, 1});
    if (i > WordCache::kWorthIt) {
      ASSERT_FALSE(cache.find(word).empty());
    }
  }
  EXPECT_TRUE(cache.find("never added").empty());
}

TEST(HotPathTokenizer, EncodeAllocatesNothingOnceItIsWarm) {
  Metadata meta;
  const std::vector<std::string> tokens = {"a", "b", "Ġ", "aa", "ab", "Ġa", "<|x|>", "1", "Ċ"};
  meta.set_string("tokenizer.ggml.model", "gpt2");
  meta.set_string("tokenizer.ggml.pre", "qwen2");
  meta.set_strings("tokenizer.ggml.tokens", tokens);
  meta.set_integers("tokenizer.ggml.token_type",
                    std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 3, 1, 1});
  meta.set_strings("tokenizer.ggml.merges", std::vector<std::string>{"a a", "a b", "Ġ a"});
  const auto tokenizer = Tokenizer::from(meta);
  ASSERT_TRUE(tokenizer);
  MarkedText text;
  for (int i = 0; i < 200; ++i) {
    text.append(cat("aab ab a ", i, " e\u0301\u0316 日本\n", std::string(100, 'a')), false);
    text.append("<|x|>", true);
  }
  std::vector<TokenId> ids;
  ASSERT_TRUE((*tokenizer)->encode(text, ids));
  const std::vector<TokenId> first = ids;
  ids.clear();
  test::reset_hot_counts();
  {
    const HotScope hot;
    ASSERT_TRUE((*tokenizer)->encode(text, ids));
  }
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().frees, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
  EXPECT_EQ(ids, first);
}

}  // namespace
}  // namespace wick
