// Guesses by a smaller model of the same vocabulary: its likeliest tokens, one after another. Its
// cache has a place for each slot of the engine; what a slot's text has in common with the last one
// is kept there.
// Engine thread only; create() allocates, draft() does not.
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
    int vocab = 0;    // of the model it guesses for
  };

  static Result<std::unique_ptr<DraftModel>> create(Decoder decoder, const Sizes& sizes);

  // Hot:
  // Fills `out` with guesses at what follows `tokens`, the text in `slot`; returns how many.
  int draft(SeqId slot, std::span<const TokenId> tokens, std::span<TokenId> out) noexcept;

  // Nothing of any slot's text is kept; with `wipe` no byte of it stays in the cache.
  void forget(bool wipe) noexcept;

  const Decoder& decoder() const noexcept { return decoder_; }

  const SequenceMemory& memory() const noexcept { return memory_; }

 private:
  DraftModel(Decoder decoder, SequenceMemory memory, const Sizes& sizes);
  TokenId feed(SeqId slot, std::span<const TokenId> tokens) noexcept;

  Decoder decoder_;
  SequenceMemory memory_;
  int context_ = 0, vocab_ = 0;
  std::vector<std::vector<TokenId>> fed_;  // what lies in the cache, a text for each slot
  std::vector<Pos> positions_;
  std::vector<SeqId> seqs_;
};

// Whether both give each token id the same bytes; the error names the first that differs.
Result<void> check_same_vocabulary(const Tokenizer& model, const Tokenizer& draft);

}  // namespace wick
