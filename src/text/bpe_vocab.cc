#include <algorithm>

#include "base/strings.h"
#include "text/bpe.h"
#include "text/byte_trie.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"

namespace wick {

Result<void> add_word(TokenId id, bool may_repeat, const Vocab& vocab, BpeModel& model) {
  const Vocab& texts = model.spelled.size() > 0 ? model.spelled : vocab;
  const std::string_view text = texts.bytes(id);
  if (const TokenId later = id + kAhead; later < texts.size()) {
    __builtin_prefetch(model.words.place(texts.bytes(later)), 1);
  }
  if (text.empty()) return {};
  const auto text_of = [&](TokenId other) { return texts.bytes(other); };
  const auto added = model.words.add(text, id, text_of);
  if (added == StringIndex::Added::kTooManyCollisions) {
    return collision("the texts of the tokens");
  }
  if (added == StringIndex::Added::kAlreadyThere && !may_repeat) {
    return corrupt_vocab(cat("token ", id, " repeats token ", model.words.find(text, text_of),
                             ", '", printable(text), "'"));
  }
  model.longest_word = std::max(model.longest_word, text.size());
  return {};
}

void fill_byte_ids(const Vocab& vocab, BpeModel& model) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    model.byte_ids[static_cast<std::size_t>(byte)] = model.find(std::string_view(&text, 1), vocab);
  }
}

std::vector<std::uint32_t> dense_ranks(std::span<const double> scores) {
  std::vector<std::uint32_t> ranks(scores.size());
  std::vector<TokenId> order(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    order[i] = static_cast<TokenId>(i);
  }
  const auto score = [&](TokenId id) { return scores[static_cast<std::size_t>(id)]; };
  std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) { return score(a) > score(b); });
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && score(order[i]) != score(order[i - 1])) ++rank;
    ranks[static_cast<std::size_t>(order[i])] = rank;
  }
  return ranks;
}

Result<void> fill_pairs_by_rank(const Vocab& vocab, BpeModel& model) {
  std::vector<ByteTrie::Key> keys;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    if (vocab.kind(id) == TokenKind::kNormal) keys.push_back({vocab.bytes(id), id});
  }
  ByteTrie trie;
  if (!trie.build(std::move(keys))) return too_large_trie();

  struct Half {
    std::uint32_t bytes;
    TokenId id;
  };

  struct Pair {
    TokenId left, right, both;
  };

  std::vector<Half> lefts;
  std::vector<Pair> pairs;
  std::size_t steps = 0;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const std::string_view text = vocab.bytes(id);
    if (vocab.kind(id) != TokenKind::kNormal || text.size() < 2) continue;
    lefts.clear();
    trie.prefixes(text.substr(0, text.size() - 1), [&](std::size_t bytes, std::int32_t left) {
      lefts.push_back({static_cast<std::uint32_t>(bytes), left});
    });
    for (const Half left : lefts) {
      const TokenId right = model.find(text.substr(left.bytes), vocab);
      if (right >= 0) pairs.push_back({left.id, right, id});
      steps += text.size() - left.bytes;
    }
    if (pairs.size() > kMaxMerges || steps > kMaxRankWork) {
      return corrupt_vocab(cat("its tokens are made of each other in more than ", kMaxMerges,
                               " ways, the last one seen was token ", id));
    }
  }
  model.pairs.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    const Merge merge{.rank = static_cast<std::uint32_t>(pair.both), .id = pair.both};
    if (!model.pairs.add(pair.left, pair.right, merge)) return collision("the merges");
  }
  return {};
}

}  // namespace wick
