// The heartbeat. Between the two braces of step() nothing allocates and nothing locks;
// engine_test.cc counts.
#include "base/check.h"
#include "base/clock.h"
#include "base/hot_scope.h"
#include "engine/state.h"

namespace wick {

bool Engine::step() {
  State& s = *state_;
  s.admit();
  int n_slices = 0;
  {
    const HotScope hot;
    for (const auto& sequence : s.live)
      deliver(*sequence);
    const Batch batch = s.plan_batch(n_slices);
    if (n_slices > 0) {
      s.decoder.launch(batch, s.kv);
      s.sample_and_emit(n_slices);
    }
  }
  s.retire();
  return n_slices > 0;
}

Batch Engine::State::plan_batch(int& n_slices) noexcept {
  for (std::size_t i = 0; i < live.size(); ++i) {
    const Sequence& q = *live[i];
    work[i] = {.known = static_cast<int>(q.tokens.size()),
               .done = q.done,
               .is_paused = q.has_pending || q.stop != StopReason::kNone};
  }
  n_slices =
      schedule(std::span(work).first(live.size()), decoder.options().max_batch_tokens, slices);

  std::size_t n = 0, m = 0;
  for (const Slice& slice : std::span(slices).first(static_cast<std::size_t>(n_slices))) {
    const Sequence& q = *live[static_cast<std::size_t>(slice.index)];
    WICK_CHECK(kv.reserve(q.slot, slice.begin + slice.count),
               "every slot has room for a whole context");
    for (int i = 0; i < slice.count; ++i, ++n) {
      positions[n] = slice.begin + i;
      tokens[n] = q.tokens[static_cast<std::size_t>(positions[n])];
      seqs[n] = q.slot;
    }
    if (slice.needs_logits) logit_rows[m++] = static_cast<int>(n) - 1;
  }
  return {.tokens = std::span(tokens).first(n),
          .positions = std::span(positions).first(n),
          .seqs = std::span(seqs).first(n),
          .logit_rows = std::span(logit_rows).first(m)};
}

void Engine::State::sample_and_emit(int n_slices) noexcept {
  auto logits = decoder.logits();
  if (!logits) {
    failure = std::move(logits).error();
    return fail(n_slices);
  }
  const auto vocab = static_cast<std::size_t>(decoder.spec().vocab);
  std::size_t row = 0;
  for (const Slice& slice : std::span(slices).first(static_cast<std::size_t>(n_slices))) {
    Sequence& q = *live[static_cast<std::size_t>(slice.index)];
    q.done += slice.count;
    if (slice.needs_logits) {
      accept(q, logits->subspan(row++ * vocab, vocab));
      deliver(q);
    }
  }
}

// Draws the next token and decides whether the answer ends with it.
void Engine::State::accept(Sequence& q, std::span<const float> logits) noexcept {
  static const Error kNoToken{.code = ErrorCode::kDevice,
                              .id = "no_token",
                              .message = "the model's logits are all NaN",
                              .hint = "check the file with: wick model verify"};
  const TokenId id = q.sampler.sample(logits, {}, q.tokens);
  const std::int64_t now = monotonic_ns();
  if (q.usage.generated_tokens == 0) {
    q.first_token_ns = now;
    q.usage.prompt_ms = static_cast<double>(now - q.started_ns) * 1e-6;
  }
  q.usage.generate_ms = static_cast<double>(now - q.first_token_ns) * 1e-6;
  if (id < 0) {
    q.error = &kNoToken;
    q.stop = StopReason::kError;
    return;
  }
  q.tokens.push_back(id);  // cold: within the capacity that the sequence reserved
  ++q.usage.generated_tokens;
  if (!q.ignore_end && tokenizer->is_end(id)) {
    q.stop = StopReason::kEnd;
    return;
  }
  q.pending = q.stream.push(id);
  q.has_pending = true;
  if (q.stream.stopped()) {
    q.stop = StopReason::kStopText;
    q.is_flushed = true;  // what is held back belongs to the stop string
  } else if (q.usage.generated_tokens == q.max_tokens) {
    q.stop = StopReason::kLength;
  }
}

void Engine::State::fail(int n_slices) noexcept {
  for (const Slice& slice : std::span(slices).first(static_cast<std::size_t>(n_slices))) {
    Sequence& q = *live[static_cast<std::size_t>(slice.index)];
    q.error = &failure;
    q.stop = StopReason::kError;
    deliver(q);
  }
}

bool deliver(Sequence& s) noexcept {
  if (s.is_over) return true;
  if (s.stop == StopReason::kNone) {
    if (!s.has_pending) return true;
    if (!s.pending.empty() && !s.sink->offer({.text = s.pending})) return false;
    s.has_pending = false;
    return true;
  }
  if (!s.is_flushed) {  // first what push() gave, then what it held back: both views live in the
                        // stream
    if (s.has_pending && !s.pending.empty() && !s.sink->offer({.text = s.pending})) return false;
    s.pending = s.stream.finish();
    s.is_flushed = true;
  }
  if (!s.sink->offer({.text = s.pending, .stop = s.stop, .usage = s.usage, .error = s.error}))
    return false;
  s.has_pending = false;
  s.is_over = true;
  return true;
}

}  // namespace wick
