// What the loaders of byte-pair vocabularies share. Load time only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/bpe.h"

namespace wick {

// Whether merges may make a token of this kind: control tokens are for trusted text alone.
constexpr bool is_word_kind(TokenKind kind) noexcept {
  return kind == TokenKind::kNormal || kind == TokenKind::kUnused;
}

// Tables of a vocabulary are larger than a cache: what will be looked up so many entries later is
// asked for already.
inline constexpr TokenId kAhead = 16;

// Enters a token into model.words, by its spelling. Texts that repeat are an error unless
// `may_repeat`; then the first counts.
Result<void> add_word(TokenId id, bool may_repeat, const Vocab& vocab, BpeModel& model);

// model.byte_ids from the tokens of one byte.
void fill_byte_ids(const Vocab& vocab, BpeModel& model);

// Dense ranks from finite scores: the best is 0, equals share one.
std::vector<std::uint32_t> dense_ranks(std::span<const double> scores);

// Merges as tiktoken has them: two tokens merge where together they are a token, by its id.
// Byte-level; model.words and model.byte_ids are filled.
Result<void> fill_pairs_by_rank(const Vocab& vocab, BpeModel& model);

}  // namespace wick
