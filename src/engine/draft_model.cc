#include "engine/draft_model.h"

#include <algorithm>

#include "base/strings.h"
#include "sample/scan.h"

namespace wick {

DraftModel::DraftModel(Decoder decoder, SequenceMemory memory, const Sizes& sizes)
    : decoder_(std::move(decoder)),
      memory_(std::move(memory)),
      context_(memory_.context()),
      vocab_(std::min(sizes.vocab, decoder_.spec().vocab)),
      fed_(static_cast<std::size_t>(sizes.max_seqs)) {
  for (auto& text : fed_)
    text.reserve(static_cast<std::size_t>(context_));
  const auto most = static_cast<std::size_t>(decoder_.options().max_batch_tokens);
  positions_.resize(most);
  seqs_.resize(most);
}

Result<std::unique_ptr<DraftModel>> DraftModel::create(Decoder decoder, const Sizes& sizes) {
  const int context = std::min(sizes.context, static_cast<int>(decoder.spec().ctx_train));
  WICK_TRY(SequenceMemory memory,
           SequenceMemory::create(decoder.placement(), decoder.spec(),
                                  {.max_seqs = sizes.max_seqs,
                                   .context = context,
                                   .max_batch_tokens = decoder.options().max_batch_tokens}));
  return std::unique_ptr<DraftModel>(new DraftModel(std::move(decoder), std::move(memory), sizes));
}

int DraftModel::draft(SeqId slot, std::span<const TokenId> tokens,
                      std::span<TokenId> out) noexcept {
  auto& fed = fed_[static_cast<std::size_t>(slot)];
  const std::size_t most = tokens.size() + out.size();
  if (most > static_cast<std::size_t>(context_)) return 0;
  // The last token is always fed: its logits are wanted.
  const auto limit = std::min(fed.size(), tokens.size() - 1);
  const auto same = static_cast<std::size_t>(
      std::mismatch(fed.begin(), fed.begin() + static_cast<std::ptrdiff_t>(limit), tokens.begin())
          .first -
      fed.begin());
  const auto kept = static_cast<std::size_t>(memory_.rollback(slot, static_cast<Pos>(same)));
  fed.resize(kept);
  if (!memory_.extend(slot, static_cast<int>(most))) return 0;
  TokenId next = feed(slot, tokens.subspan(kept));
  memory_.mark(slot);  // after the accepted tokens
  for (std::size_t n = 0; n < out.size(); ++n) {
    if (next < 0 || next >= vocab_) return static_cast<int>(n);
    out[n] = next;
    if (n + 1 < out.size()) next = feed(slot, out.subspan(n, 1));
  }
  return static_cast<int>(out.size());
}

void DraftModel::forget(bool wipe) noexcept {
  for (std::size_t slot = 0; slot < fed_.size(); ++slot) {
    memory_.release(static_cast<SeqId>(slot));
    if (wipe) std::fill(fed_[slot].begin(), fed_[slot].end(), 0);
    fed_[slot].clear();
  }
  if (wipe) memory_.wipe_free();
}

// The most likely token after `tokens`, which extend the tokens fed before; -1 if there is none.
TokenId DraftModel::feed(SeqId slot, std::span<const TokenId> tokens) noexcept {
  auto& fed = fed_[static_cast<std::size_t>(slot)];
  while (!tokens.empty()) {
    const std::size_t n = std::min(tokens.size(), positions_.size());
    for (std::size_t i = 0; i < n; ++i) {
      positions_[i] = static_cast<Pos>(fed.size() + i);
      seqs_[i] = slot;
    }
    const int last = static_cast<int>(n) - 1;
    const bool is_end = n == tokens.size();
    decoder_.launch({.tokens = tokens.first(n),
                     .positions = std::span(positions_).first(n),
                     .seqs = std::span(seqs_).first(n),
                     .logit_rows = std::span(&last, is_end ? 1 : 0)},
                    memory_);
    fed.insert(fed.end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n));
    tokens = tokens.subspan(n);
  }
  const auto logits = decoder_.logits();
  return logits ? find_largest({.logits = *logits}) : -1;
}

Result<void> check_same_vocabulary(const Tokenizer& model, const Tokenizer& draft) {
  const auto refuse = [](std::string message) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "draft_vocabulary_mismatch",
                 .message = std::move(message),
                 .hint = "a draft model must come from the same family, with the same tokenizer"};
  };
  if (model.size() != draft.size()) {
    return refuse(
        cat("the draft model has ", draft.size(), " tokens, the model has ", model.size()));
  }
  for (TokenId id = 0; id < model.size(); ++id) {
    if (model.bytes(id) == draft.bytes(id)) continue;
    return refuse(cat("token ", id, " is '", printable(draft.bytes(id)),
                      "' to the draft model and '", printable(model.bytes(id)), "' to the model"));
  }
  return {};
}

}  // namespace wick
