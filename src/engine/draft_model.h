// Draft tokens by a smaller model of the same vocabulary, greedily decoded. It has a KV cache
// sequence for each slot of the engine and keeps the prefix that a slot's new text shares with its
// last one. Engine thread only; create() allocates, draft() does not.
//
//   WICK_TRY(auto draft, DraftModel::create(std::move(decoder), {.max_seqs = 4}));
//   const int n = draft->draft(slot, tokens, out);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "model/decoder.h"
#include "model/sequence_memory.h"
#include "text/tokenizer.h"

namespace wick {

class DraftModel {
 public:
  struct Sizes {
    int max_seqs = 1;
    int context = 0;  // of the engine
    int vocab = 0;    // of the target model
  };

  static Result<std::unique_ptr<DraftModel>> create(Decoder decoder, const Sizes& sizes);

  // Hot: Fills `out` with draft tokens after `tokens`, the text in `slot`; returns how many.
  int draft(SeqId slot, std::span<const TokenId> tokens, std::span<TokenId> out) noexcept;

  // Drops the cache of all slots; `wipe` also zeroes it.
  void forget(bool wipe) noexcept;

  const Decoder& decoder() const noexcept { return decoder_; }

  const SequenceMemory& memory() const noexcept { return memory_; }

 private:
  DraftModel(Decoder decoder, SequenceMemory memory, const Sizes& sizes);
  TokenId feed(SeqId slot, std::span<const TokenId> tokens) noexcept;

  Decoder decoder_;
  SequenceMemory memory_;
  int context_ = 0, vocab_ = 0;
  std::vector<std::vector<TokenId>> fed_;  // the cached tokens of each slot
  std::vector<Pos> positions_;
  std::vector<SeqId> seqs_;
};

// Whether both vocabularies have the same bytes for each token id; the error names the first
// difference.
Result<void> check_same_vocabulary(const Tokenizer& model, const Tokenizer& draft);

}  // namespace wick
