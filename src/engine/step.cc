// The heartbeat. Between the two braces of step() nothing allocates and nothing locks;
// engine_test.cc counts.
#include <algorithm>

#include "base/clock.h"
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
    const auto slices = s.scheduler.plan(s.budget());
    is_busy = !slices.empty();
    if (is_busy) s.compute(slices);
  }
  s.retire();
  return is_busy;
}

void Engine::State::deliver_all() noexcept {
  const std::int64_t now = monotonic_ns();
  for (const auto& s : sequences)
    s->is_paused = !deliver(*s, now);
}

// A step that sequences share is short, so that those who decode wait for nobody's prompt and a
// cancelled one is gone soon.
StepBudget Engine::State::budget() const noexcept {
  const int most = options.prefill_chunk;
  if (options.step_target_ms == 0) return {.shared = most, .alone = most};
  return {.shared = cost.prompt_budget(most), .alone = most};
}

Batch Engine::State::gather(std::span<const Slice> slices) noexcept {
  std::size_t n = 0, m = 0;
  for (const Slice& slice : slices) {
    for (int i = 0; i < slice.count; ++i, ++n) {
      positions[n] = slice.begin + i;
      tokens[n] = slice.job->tokens[static_cast<std::size_t>(positions[n])];
      seqs[n] = slice.job->slot;
    }
    if (slice.needs_logits) logit_rows[m++] = static_cast<int>(n) - 1;
  }
  return {.tokens = std::span(tokens).first(n),
          .positions = std::span(positions).first(n),
          .seqs = std::span(seqs).first(n),
          .logit_rows = std::span(logit_rows).first(m)};
}

void Engine::State::compute(std::span<const Slice> slices) noexcept {
  const std::int64_t began = monotonic_ns();
  // cancel() first leaves its message, then looks at `alone`; here it is the other way round, so
  // one of the two sees the other.
  gives_up.store(false);
  alone.store(slices.size() == 1 ? slices[0].job->id : 0);
  if (slices.size() == 1 && !cancels.is_empty()) gives_up.store(true);
  const Batch batch = gather(slices);
  const bool is_whole = decoder.launch(batch, kv, gives_up);
  alone.store(0);
  if (!is_whole) return;  // the step never was; whom it was for is ended by the next one
  sample_and_emit(slices);
  scheduler.publish();
  int n_decoding = 0;
  for (const Slice& slice : slices)
    n_decoding += slice.count == 1 ? 1 : 0;
  cost.measured(n_decoding, static_cast<int>(batch.tokens.size()) - n_decoding, slices.size() > 1,
                monotonic_ns() - began);
}

void Engine::State::sample_and_emit(std::span<const Slice> slices) noexcept {
  auto logits = decoder.logits();
  if (!logits) {
    failure = std::move(logits).error();
    return fail(slices);
  }
  const auto vocab = static_cast<std::size_t>(decoder.spec().vocab);
  std::size_t row = 0;
  for (const Slice& slice : slices) {
    auto& s = static_cast<Sequence&>(*slice.job);
    scheduler.computed(slice);
    if (slice.needs_logits) {
      accept(s, logits->subspan(row++ * vocab, vocab));
      deliver(s, monotonic_ns());
    }
  }
}

// Draws the next token and decides whether the answer ends with it.
void Engine::State::accept(Sequence& s, std::span<float> logits) noexcept {
  static const Error kNoToken{.code = ErrorCode::kDevice,
                              .id = "no_token",
                              .message = "the model's logits are all NaN",
                              .hint = "check the file with: wick model verify"};
  const TokenId id = s.sampler.sample(logits, {}, s.tokens);
  const std::int64_t now = monotonic_ns();
  if (s.usage.generated_tokens == 0) {
    s.first_token_ns = now;
    s.usage.prompt_ms = static_cast<double>(now - s.started_ns) * 1e-6;
  }
  s.usage.generate_ms = static_cast<double>(now - s.first_token_ns) * 1e-6;
  if (id < 0) {
    s.error = &kNoToken;
    s.stop = StopReason::kError;
    return;
  }
  s.tokens.push_back(id);  // cold: within the capacity that the sequence reserved
  ++s.usage.generated_tokens;
  if (s.ends_with(id)) {
    s.stop = StopReason::kEnd;
    return;
  }
  s.emission.add(s.stream.push(id), now);
  if (s.stream.stopped()) {
    s.stop = StopReason::kStopText;
    s.is_flushed = true;  // what is held back belongs to the stop string
  } else if (s.usage.generated_tokens == s.max_tokens) {
    s.stop = StopReason::kLength;
  }
}

void Engine::State::fail(std::span<const Slice> slices) noexcept {
  for (const Slice& slice : slices) {
    auto& s = static_cast<Sequence&>(*slice.job);
    s.error = &failure;
    s.stop = StopReason::kError;
    deliver(s, monotonic_ns());
  }
}

bool deliver(Sequence& s, std::int64_t now_ns) noexcept {
  if (s.is_over) return true;
  if (s.stop == StopReason::kNone) {
    if (!s.emission.is_due(now_ns)) return true;
    if (!s.sink->offer({.text = s.emission.text(), .tokens = s.new_tokens()})) return false;
    s.emission.taken();
    s.n_offered = s.usage.generated_tokens;
    return true;
  }
  if (!s.is_flushed) {
    s.emission.add(s.stream.finish(), now_ns);
    s.is_flushed = true;
  }
  s.usage.cached_tokens = std::max(0, s.cached);
  s.usage.miss = s.miss;
  s.usage.preemptions = s.n_preempted;
  s.is_over = s.sink->offer({.text = s.emission.text(),
                             .tokens = s.new_tokens(),
                             .stop = s.stop,
                             .usage = s.usage,
                             .error = s.error,
                             .plan = s.stop == StopReason::kPlanned ? &s.plan : nullptr});
  return s.is_over;
}

}  // namespace wick
