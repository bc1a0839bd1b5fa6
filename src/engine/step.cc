// The engine's step: one forward pass. Inside step() nothing allocates and nothing locks;
// engine_test.cc counts.
#include <algorithm>
#include <limits>

#include "base/hot_scope.h"
#include "engine/state.h"

namespace wick {

bool Engine::step() {
  State& s = *state_;
  s.take_requests();
  s.scheduler.admit();
  s.begin_admitted();
  bool is_busy = false;
  {
    const HotScope hot;
    s.deliver_all();
    s.propose();
    const auto slices = s.scheduler.schedule(s.budget());
    is_busy = !slices.empty();
    if (is_busy) s.compute(slices);
  }
  s.retire();
  return is_busy;
}

void Engine::State::deliver_all() noexcept {
  const std::int64_t now = now_ns();
  for (const auto& s : sequences) {
    const bool has_room = deliver(*s, now);
    if (s->entry != nullptr) s->entry->is_paused = !has_room;
  }
}

// Before a step: draft tokens for each decoding sequence.
void Engine::State::propose() noexcept {
  if (options.draft_max == 0) return;
  const std::int64_t began = now_ns();
  const bool is_worth_it = !options.adaptive_drafting || draft_pay.is_worth_it();
  for (SchedulerEntry* entry : scheduler.live()) {
    Sequence& s = *entry->owner;
    entry->n_draft = 0;
    if (!is_worth_it || entry->is_paused || !entry->is_decoding() ||
        s.finish != FinishReason::kNone)
      continue;
    const int left = s.max_tokens - s.usage.generated_tokens - 1;
    const int n = s.drafts.length(std::min(options.draft_max, left));
    if (n <= 0) continue;
    const auto out = std::span(s.draft).first(static_cast<std::size_t>(n));
    entry->n_draft =
        draft != nullptr ? draft->draft(entry->slot, s.tokens, out) : s.ngrams.draft(s.tokens, out);
    if (s.filter != nullptr && entry->n_draft > 0) {
      entry->n_draft = s.filter->count_allowed(out.first(static_cast<std::size_t>(entry->n_draft)));
    }
  }
  draft_ns = now_ns() - began;
}

// Steps with several sequences are kept short, so that long prompts do not delay decoding and a
// cancellation takes effect soon.
StepBudget Engine::State::budget() const noexcept {
  const int most = options.prefill_chunk;
  if (options.step_target_ms == 0) return {.shared = most, .exclusive = most, .decode = most};
  return {.shared = cost.prompt_budget(most), .exclusive = most, .decode = cost.decode_tokens()};
}

Batch Engine::State::gather(std::span<const Slice> slices) noexcept {
  std::size_t n = 0, m = 0, n_runs = 0;
  for (const Slice& slice : slices) {
    for (const AdapterUse& use : slice.entry->owner->adapters) {
      adapter_runs[n_runs++] = {.adapter = use.adapter,
                                .first = static_cast<int>(n),
                                .count = slice.count,
                                .scale = use.scale};
    }
    for (int i = 0; i < slice.count; ++i, ++n) {
      positions[n] = slice.begin + i;
      const auto at = static_cast<std::size_t>(positions[n]);
      const Sequence& s = *slice.entry->owner;
      tokens[n] = at < s.tokens.size() ? s.tokens[at] : s.draft[at - s.tokens.size()];
      seqs[n] = slice.entry->slot;
      if (!types.empty()) types[n] = s.second_begin > 0 && positions[n] >= s.second_begin ? 1 : 0;
    }
    for (int i = slice.n_rows; i > 0; --i)
      logit_rows[m++] = static_cast<int>(n) - i;
  }
  return {.tokens = std::span(tokens).first(n),
          .positions = std::span(positions).first(n),
          .seqs = std::span(seqs).first(n),
          .logit_rows = std::span(logit_rows).first(m),
          .types = std::span<const TokenId>(types).first(types.empty() ? 0 : n),
          .adapters = std::span(adapter_runs).first(n_runs)};
}

void Engine::State::compute(std::span<const Slice> slices) noexcept {
  const std::int64_t began = now_ns();
  // cancel() first posts its message, then reads `sole_request`; here the order is reversed, so one
  // of the two sees the other.
  abort_requested.store(false);
  sole_request.store(slices.size() == 1 ? slices[0].entry->id : 0);
  if (slices.size() == 1 && !cancels.is_empty()) abort_requested.store(true);
  const Batch batch = gather(slices);
  const bool is_whole = decoder.launch(batch, memory, abort_requested);
  sole_request.store(0);
  if (!is_whole) return;  // the pass was aborted; the next step ends the request
  sample_and_emit(slices);
  scheduler.publish();
  learn_cost(slices, now_ns() - began);
}

void Engine::State::learn_cost(std::span<const Slice> slices, std::int64_t ns) noexcept {
  int n_decoding = 0, n_prompt = 0;
  for (const Slice& slice : slices) {
    if (slice.n_draft > 0) {  // neither the one nor the other
      const Sequence& s = *slice.entry->owner;
      if (slices.size() == 1) draft_pay.step_with(ns + draft_ns, slice.n_draft, s.n_accepted);
      return;
    }
    (slice.count == 1 ? n_decoding : n_prompt) += slice.count;
  }
  cost.measured(n_decoding, n_prompt, slices.size() > 1, ns);
  if (n_decoding == 1 && n_prompt == 0) draft_pay.step_without(ns);
}

void Engine::State::sample_and_emit(std::span<const Slice> slices) noexcept {
  auto logits = decoder.logits();
  if (!logits) {
    failure = std::move(logits).error();
    return fail(slices);
  }
  const auto vocab = static_cast<std::size_t>(decoder.spec().vocab);
  std::size_t row = 0;
  int first = 0;  // of the slice's tokens in the batch
  for (const Slice& slice : slices) {
    const Sequence& s = *slice.entry->owner;
    scheduler.computed(slice);
    if (s.prompt_output == PromptOutput::kHiddenStates) pool(slice, first);
    first += slice.count;
    if (slice.n_rows == 0) continue;
    const auto n_rows = static_cast<std::size_t>(slice.n_rows);
    const auto rows = logits->subspan(row * vocab, n_rows * vocab);
    row += n_rows;
    if (s.prompt_output == PromptOutput::kLogprobs) score_prompt(slice, rows);
    if (slice.is_last) draw(slice, rows);
  }
}

// Samples the next token, and more as long as each equals its draft token: their logits are
// computed already.
void Engine::State::draw(const Slice& slice, std::span<float> rows) noexcept {
  Sequence& s = *slice.entry->owner;
  const auto vocab = static_cast<std::size_t>(decoder.spec().vocab);
  int n_accepted = 0;
  rows = rows.last(static_cast<std::size_t>(1 + slice.n_draft) * vocab);
  for (;;) {
    accept(s, rows.first(vocab));
    deliver(s, now_ns());
    s.drafts.sampled();
    if (s.finish != FinishReason::kNone || n_accepted == slice.n_draft ||
        s.tokens.back() != s.draft[static_cast<std::size_t>(n_accepted)]) {
      break;
    }
    ++n_accepted;
    rows = rows.subspan(vocab);
  }
  if (slice.n_draft == 0) return;
  scheduler.verified(slice, n_accepted);
  s.drafts.verified(slice.n_draft, n_accepted);
  s.n_accepted = n_accepted;
  s.usage.draft_tokens += slice.n_draft;
  s.usage.accepted_tokens += n_accepted;
}

void Engine::State::pool(const Slice& slice, int first) noexcept {
  Sequence& s = *slice.entry->owner;
  auto states = decoder.states(first, slice.count);
  if (!states) {
    failure = std::move(states).error();
    return fail({&slice, 1});
  }
  s.embed->add(slice.begin, *states);
  if (!slice.is_last) return;
  if (decoder.spec().encoder) {
    auto values = decoder.project(s.embed->pooled());
    if (!values) {
      failure = std::move(values).error();
      return fail({&slice, 1});
    }
    s.embed->project(*values);
  }
  const std::int64_t now = now_ns();
  s.usage.prompt_ms = static_cast<double>(now - s.started_ns) * 1e-6;
  s.finish = FinishReason::kEos;
  deliver(s, now);
}

// Each row predicts the next position. A preempted request recomputes the same logprobs.
void Engine::State::score_prompt(const Slice& slice, std::span<const float> rows) noexcept {
  Sequence& s = *slice.entry->owner;
  const auto vocab = static_cast<std::size_t>(decoder.spec().vocab);
  const auto per_token = s.scorer.per_token();
  const auto n_prompt = static_cast<std::size_t>(s.usage.prompt_tokens);
  auto next = static_cast<std::size_t>(slice.begin + slice.count - slice.n_rows) + 1;
  for (; !rows.empty() && next < n_prompt; ++next, rows = rows.subspan(vocab)) {
    s.scorer.score(rows.first(vocab), s.tokens[next],
                   std::span(*s.prompt_scores).subspan(next * per_token, per_token));
  }
}

namespace {

// The token sampled last, or the end, completed `text`.
void show(Sequence& s, std::string_view text, std::int64_t now_ns) noexcept {
  if (text.empty()) return;
  s.emission.add(text, now_ns);
  s.n_shown = s.usage.generated_tokens;
}

// A token that the sampler could take, were it not banned.
bool has_candidate(std::span<const float> logits) noexcept {
  return std::any_of(logits.begin(), logits.end(),
                     [](float x) { return x > -std::numeric_limits<float>::infinity(); });
}

}  // namespace

// The next token; -1 after an error.
TokenId Engine::State::choose(Sequence& s, std::span<float> logits) noexcept {
  const auto fail = [&](const Error& error) {
    s.error = &error;
    s.entry->is_failed = true;
    s.finish = FinishReason::kError;
    return TokenId{-1};
  };
  if (s.filter != nullptr && !s.filter->allow(logits, s.allowed)) return fail(s.filter->failure());
  const TokenId id = s.sampler.sample(logits, s.allowed, s.tokens);
  if (id < 0) {
    if (!has_candidate(logits)) return fail(no_token);
    return fail(s.filter != nullptr ? banned_format : banned_all);
  }
  if (s.filter == nullptr) return id;
  const TokenId taken = s.filter->accept(id, s.max_tokens - s.usage.generated_tokens - 1);
  if (taken < 0) return fail(s.filter->failure());
  if (taken != id) ++s.usage.steered_tokens;
  return taken;
}

// Samples the next token and decides whether the answer ends with it.
void Engine::State::accept(Sequence& s, std::span<float> logits) noexcept {
  const TokenId id = choose(s, logits);
  const std::int64_t now = now_ns();
  if (s.usage.generated_tokens == 0) {
    s.first_token_ns = now;
    s.usage.prompt_ms = static_cast<double>(now - s.started_ns) * 1e-6;
  }
  s.usage.generate_ms = static_cast<double>(now - s.first_token_ns) * 1e-6;
  if (id < 0) return;
  s.tokens.push_back(id);  // cold: within the capacity that the sequence reserved
  ++s.usage.generated_tokens;
  if (s.scorer.is_on()) {
    const std::size_t n = s.logprobs.size();
    s.logprobs.resize(n + s.scorer.per_token());  // within the capacity that the sequence reserved
    s.scorer.score(logits, id, std::span(s.logprobs).subspan(n));
  }
  const bool is_steered = s.usage.steered_tokens > 0;
  const FinishReason end = is_steered ? FinishReason::kLength : FinishReason::kEos;
  if (s.ends_with(id)) {
    s.finish = end;
    return;
  }
  show(s, s.stream.push(id), now);
  if (s.stream.stopped()) {
    s.finish = FinishReason::kStop;
    s.is_flushed = true;  // the text held back belongs to the stop sequence
  } else if (s.filter != nullptr && s.filter->is_over()) {
    s.finish = end;
  } else if (s.usage.generated_tokens == s.max_tokens) {
    s.finish = FinishReason::kLength;
  }
}

void Engine::State::fail(std::span<const Slice> slices) noexcept {
  for (const Slice& slice : slices) {
    Sequence& s = *slice.entry->owner;
    s.error = &failure;
    slice.entry->is_failed = true;
    s.finish = FinishReason::kError;
    deliver(s, now_ns());
  }
}

bool deliver(Sequence& s, std::int64_t now_ns) noexcept {
  if (s.is_over) return true;
  const bool ends = s.finish != FinishReason::kNone;
  if (ends && s.entry != nullptr) {
    s.usage.cached_tokens = std::max(0, s.entry->cached);
    s.usage.miss = s.entry->miss;
    s.usage.preemptions = s.entry->n_preempted;
  }
  if (ends && !s.is_flushed) {
    show(s, s.stream.finish(), now_ns);
    s.is_flushed = true;
  }
  if (ends ? !s.emission.text().empty() : s.emission.is_due(s.n_shown - s.n_offered, now_ns)) {
    if (!s.sink->offer({.text = s.emission.text(),
                        .tokens = s.new_tokens(s.n_shown),
                        .logprobs = s.new_scores(s.n_shown)}))
      return false;
    s.emission.taken();
    s.n_offered = s.n_shown;
  }
  if (!ends) return true;
  if (s.embed != nullptr) {
    s.embed->finish(s.finish, s.error);
    return s.is_over = true;
  }
  s.is_over = s.sink->offer({.tokens = s.new_tokens(s.usage.generated_tokens),
                             .logprobs = s.new_scores(s.usage.generated_tokens),
                             .finish = s.finish,
                             .usage = s.usage,
                             .error = s.error});
  return s.is_over;
}

}  // namespace wick
