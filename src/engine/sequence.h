// One running request. submit() allocates everything it will need; afterwards the engine thread
// owns it and allocates nothing for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/draft_control.h"
#include "engine/emission.h"
#include "engine/engine.h"
#include "engine/ngram_index.h"
#include "engine/scheduler.h"
#include "sample/sampler.h"
#include "text/tokenizer.h"

namespace wick {

inline std::vector<TokenId> find_ends(const GenerateRequest& request, const Tokenizer& tokenizer) {
  std::vector<TokenId> ends = request.stop_token_ids;
  if (!request.ignore_end) {
    ends.insert(ends.end(), tokenizer.ends().begin(), tokenizer.ends().end());
  }
  return ends;
}

// Tokens that one step can add.
inline std::size_t longest_piece(const Tokenizer& tokenizer, int draft_max) noexcept {
  return tokenizer.longest_token_bytes() * static_cast<std::size_t>(1 + draft_max);
}

struct SequenceSizes {
  int max_tokens = 0;  // of the answer
  int vocab = 0;
  int draft_max = 0;
};

struct Sequence {
  Sequence(RequestId request_id, PromptOutput prompt_wish, GenerateRequest request,
           const Tokenizer& tokenizer, const SequenceSizes& sizes, std::int64_t now_ns)
      : id(request_id),
        tenant(request.tenant),
        client(request.client),
        adapters(std::move(request.adapters)),
        second_begin(request.second_begin),
        priority(request.priority),
        prompt_output(prompt_wish),
        tokens(std::move(request.prompt)),
        max_tokens(sizes.max_tokens),
        ends(find_ends(request, tokenizer)),
        sampler(request.sampling,
                {.vocab = sizes.vocab,
                 .history = static_cast<int>(tokens.size()) + sizes.max_tokens,
                 .ends = ends},
                std::move(request.editor)),
        filter(std::move(request.filter)),
        stream(tokenizer, request.is_continuing, std::move(request.stop),
               std::move(request.shown_tokens)),
        sink(std::move(request.sink)),
        emission(request.emit_tokens, request.emit_ms, longest_piece(tokenizer, sizes.draft_max)),
        scorer(sizes.vocab, request.top_logprobs),
        submitted_ns(now_ns) {
    usage.prompt_tokens = static_cast<int>(tokens.size());
    tokens.reserve(tokens.size() + static_cast<std::size_t>(max_tokens));
    logprobs.reserve(scorer.per_token() * static_cast<std::size_t>(max_tokens));
    if (filter != nullptr) allowed.resize((static_cast<std::size_t>(sizes.vocab) + 63) / 64);
    if (sizes.draft_max > 0) {
      draft.resize(static_cast<std::size_t>(sizes.draft_max));
      ngrams = NgramIndex(usage.prompt_tokens + max_tokens);
    }
    if (request.time_limit_ms > 0) {
      deadline_ns = submitted_ns + request.time_limit_ms * std::int64_t{1'000'000};
    }
  }

  // Of the answer's first `n` tokens those the reader has not taken, with their logprobs.
  std::span<const TokenId> new_tokens(int n) const noexcept {
    return std::span(tokens).subspan(static_cast<std::size_t>(usage.prompt_tokens + n_offered),
                                     static_cast<std::size_t>(n - n_offered));
  }

  std::span<const IdLogprob> new_scores(int n) const noexcept {
    return std::span(logprobs).subspan(
        scorer.per_token() * static_cast<std::size_t>(n_offered),
        scorer.per_token() * static_cast<std::size_t>(n - n_offered));
  }

  bool ends_with(TokenId token) const noexcept {
    return std::find(ends.begin(), ends.end(), token) != ends.end();
  }

  RequestId id;
  std::uint64_t tenant, client;
  std::vector<AdapterUse> adapters;
  int second_begin;
  int priority;
  PromptOutput prompt_output;
  std::vector<TokenId> tokens;      // prompt and answer so far
  SchedulerEntry* entry = nullptr;  // the scheduler's entry; null before add() and after remove()
  int max_tokens;                   // of the answer
  std::vector<TokenId> ends;        // tokens that end the answer
  SamplerChain sampler;
  std::shared_ptr<TokenFilter> filter;  // of structured output, else null
  std::vector<std::uint64_t> allowed;   // what `filter` allows; empty = all
  TextStream stream;
  std::shared_ptr<DeltaSink> sink;  // of generation, else null
  Emission emission;                // text the reader has not taken yet
  int n_shown = 0;    // tokens of the answer up to the one that completed its shown text
  int n_offered = 0;  // tokens of the answer the reader has taken
  Scorer scorer;
  std::vector<IdLogprob> logprobs;  // of the answer; as long as its tokens, or empty
  std::shared_ptr<std::vector<IdLogprob>> prompt_scores;  // with kLogprobs
  std::shared_ptr<EmbedResult> embed;                     // with kHiddenStates
  std::vector<TokenId> draft;                             // draft tokens, entry->n_draft of them
  NgramIndex ngrams;
  DraftControl drafts;
  int n_accepted = 0;  // accepted draft tokens of the last step that had any
  Usage usage = {};
  std::int64_t submitted_ns = 0, started_ns = 0, first_token_ns = 0;
  std::int64_t deadline_ns = 0;  // 0 = none

  FinishReason finish = FinishReason::kNone;  // decided; the last delta may not be delivered yet
  bool is_flushed = false;                    // `emission` holds the stream's last text
  bool is_over = false;                       // the last delta is delivered
  const Error* error = nullptr;
  Error own_error = {};  // target of `error`, if it concerns this request only

  Sequence* inbox_next = nullptr;
};

}  // namespace wick
