#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "engine/limits.h"
#include "engine/state.h"

namespace wick {

std::string_view name(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::kNone:
      return "";
    case StopReason::kEnd:
    case StopReason::kStopText:
      return "stop";
    case StopReason::kLength:
      return "length";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kError:
      return "error";
  }
  return "";
}

int plan_context(const DecoderSpec& spec, const EngineOptions& options) noexcept {
  if (options.context > 0) return std::min(options.context, kMaxContext);
  const std::size_t position = kv_bytes_per_position(spec, options.k_type, options.v_type);
  const std::uint64_t fits = options.kv_limit_bytes / std::max<std::size_t>(1, position) /
                             static_cast<unsigned>(options.max_seqs);
  const std::uint64_t blocks = std::max<std::uint64_t>(1, fits / kBlockTokens);
  return static_cast<int>(std::min<std::uint64_t>(
      {blocks * kBlockTokens, static_cast<std::uint64_t>(spec.ctx_train), kMaxContext}));
}

Engine::State::State(Decoder d, KvCache c, std::shared_ptr<const Tokenizer> t,
                     const EngineOptions& o, int context_tokens)
    : decoder(std::move(d)),
      kv(std::move(c)),
      tokenizer(std::move(t)),
      options(o),
      context(context_tokens),
      inbox(kInboxLen),
      cancels(1 << 30) {
  const auto n_seqs = static_cast<std::size_t>(options.max_seqs);
  const auto n_tokens = static_cast<std::size_t>(decoder.options().max_batch_tokens);
  live.reserve(n_seqs);
  slots.resize(n_seqs);
  work.resize(n_seqs);
  slices.resize(n_seqs);
  logit_rows.resize(n_seqs);
  tokens.resize(n_tokens);
  positions.resize(n_tokens);
  seqs.resize(n_tokens);
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}

Engine::~Engine() = default;

int Engine::context() const noexcept {
  return state_->context;
}

const Tokenizer& Engine::tokenizer() const noexcept {
  return *state_->tokenizer;
}

Result<std::unique_ptr<Engine>> Engine::create(Decoder decoder, Backend& backend,
                                               std::shared_ptr<const Tokenizer> tokenizer,
                                               const EngineOptions& options) {
  if (options.max_seqs < 1 || options.max_seqs > kMaxSeqs) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_max_seqs",
                 .message = cat("max_seqs is ", options.max_seqs, ", allowed are 1 to ", kMaxSeqs)};
  }
  const DecoderOptions& sizes = decoder.options();
  if (std::min(sizes.max_logit_rows, sizes.max_batch_tokens) < options.max_seqs) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_max_seqs",
                 .message = cat("the decoder takes ", sizes.max_batch_tokens, " tokens and gives ",
                                sizes.max_logit_rows, " rows of logits a step, ", options.max_seqs,
                                " sequences need as many of both")};
  }
  const int context = plan_context(decoder.spec(), options);
  WICK_TRY(KvCache kv, KvCache::create(backend, decoder.spec(),
                                       {.k_type = options.k_type,
                                        .v_type = options.v_type,
                                        .max_seqs = options.max_seqs,
                                        .context = context}));
  auto state = std::make_unique<State>(std::move(decoder), std::move(kv), std::move(tokenizer),
                                       options, context);
  return std::unique_ptr<Engine>(new Engine(std::move(state)));
}

namespace {

Error invalid(std::string id, std::string message) {
  return {.code = ErrorCode::kInvalid, .id = std::move(id), .message = std::move(message)};
}

// The tokens a request may generate, or why it cannot run.
Result<int> check_request(const GenerateRequest& request, int context, int vocab) {
  WICK_CHECK(request.sink != nullptr, "a request has a sink");
  if (request.prompt.empty()) return invalid("empty_prompt", "the prompt is empty");
  for (const TokenId id : request.prompt) {
    if (id < 0 || id >= vocab) {
      return invalid("bad_token",
                     cat("token ", id, " of the prompt is outside the vocabulary of ", vocab));
    }
  }
  WICK_DO(check(request.sampling));
  if (request.max_tokens < 0) {
    return invalid("bad_max_tokens",
                   cat("max_tokens is ", request.max_tokens, ", wanted is 0 or more"));
  }
  if (request.stops.size() > kMaxStops) {
    return invalid("bad_stop", cat(request.stops.size(), " stop strings, allowed are ", kMaxStops));
  }
  for (const std::string& stop : request.stops) {
    if (stop.empty() || stop.size() > kMaxStopBytes) {
      return invalid("bad_stop", cat("a stop string has ", stop.size(), " bytes, allowed are 1 to ",
                                     kMaxStopBytes));
    }
  }
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const std::int64_t wanted = std::max(1, request.max_tokens);
  if (prompt + wanted > context) {
    Error error = invalid("context_length_exceeded", cat("prompt ", prompt, " + max ", wanted,
                                                         " > context ", context, " tokens"));
    error.hint = "shorten the prompt, lower max_tokens, or raise the context with -c";
    return error;
  }
  return request.max_tokens > 0 ? request.max_tokens : static_cast<int>(context - prompt);
}

}  // namespace

Result<RequestId> Engine::submit(GenerateRequest request) {
  State& s = *state_;
  const int vocab = s.decoder.spec().vocab;
  WICK_TRY(const int max_tokens, check_request(request, s.context, vocab));
  const RequestId id = s.next_id.fetch_add(1, std::memory_order_relaxed);
  auto sequence =
      std::make_unique<Sequence>(id, std::move(request), max_tokens, *s.tokenizer, vocab);
  if (!s.inbox.push(sequence)) {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "queue_full",
                 .message = cat("the queue holds ", kInboxLen, " requests, which is its limit"),
                 .hint = "try again later"};
  }
  return id;
}

void Engine::cancel(RequestId id) noexcept {
  auto message = std::unique_ptr<Cancel>(new (std::nothrow) Cancel{.id = id});
  if (message == nullptr) return;  // out of memory: the request runs to its end
  state_->cancels.push(message);
  state_->inbox.wake();
}

void Engine::run(const std::stop_token& stop) {
  State& s = *state_;
  const std::stop_callback wake(stop, [&s] { s.inbox.wake(); });
  while (!stop.stop_requested()) {
    const std::uint32_t signal = s.inbox.signal();
    if (step()) continue;
    if (s.live.empty()) {
      s.inbox.wait(signal);
    } else {  // every reader is behind
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  s.admit();
  for (auto* list : {&s.live, &s.waiting}) {
    for (auto& sequence : *list) {
      if (sequence->stop == StopReason::kNone) sequence->stop = StopReason::kCancelled;
      deliver(*sequence);
      sequence->is_over = true;
    }
  }
  s.waiting.clear();
  s.retire();
}

void Engine::State::admit() {
  // What is not taken stays in the inbox, whose limit then refuses what comes.
  const bool has_room = waiting.size() < static_cast<std::size_t>(kInboxLen);
  for (Sequence* list = has_room ? inbox.take_all() : nullptr; list != nullptr;) {
    waiting.emplace_back(list);
    list = list->inbox_next;
  }
  apply_cancels();
  std::size_t n = 0;
  while (n < waiting.size() && live.size() < slots.size())
    place(std::move(waiting[n++]));
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(n));
}

// Gives `sequence` the free slot that already holds most of its prompt. The last token of the
// prompt is always computed, because its logits are wanted.
void Engine::State::place(std::unique_ptr<Sequence> sequence) {
  std::size_t best = slots.size();
  std::size_t best_common = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    if (slot.is_used) continue;
    const auto& prompt = sequence->tokens;
    const std::size_t limit = std::min(slot.cached.size(), prompt.size() - 1);
    const auto end = slot.cached.begin() + static_cast<std::ptrdiff_t>(limit);
    const auto common = static_cast<std::size_t>(
        std::mismatch(slot.cached.begin(), end, prompt.begin()).first - slot.cached.begin());
    if (best == slots.size() || common > best_common ||
        (common == best_common && slot.last_used < slots[best].last_used)) {
      best = i;
      best_common = common;
    }
  }
  WICK_CHECK(best < slots.size(), "a slot is free when fewer sequences than slots are live");
  Slot& slot = slots[best];
  slot.is_used = true;
  slot.last_used = ++admissions;
  slot.cached.clear();
  sequence->slot = static_cast<SeqId>(best);
  sequence->done = static_cast<int>(best_common);
  sequence->usage.cached_tokens = sequence->done;
  sequence->started_ns = monotonic_ns();
  kv.truncate(sequence->slot, sequence->done);
  live.push_back(std::move(sequence));
}

void Engine::State::apply_cancels() noexcept {
  for (Cancel* list = cancels.take_all(); list != nullptr;) {
    const std::unique_ptr<Cancel> message(list);
    list = message->inbox_next;
    for (auto* sequences : {&live, &waiting}) {
      for (auto& sequence : *sequences) {
        if (sequence->id != message->id || sequence->stop != StopReason::kNone) continue;
        sequence->stop = StopReason::kCancelled;
        deliver(*sequence);
      }
    }
  }
  std::erase_if(waiting, [](const auto& sequence) { return sequence->is_over; });
}

void Engine::State::retire() {
  for (auto& sequence : live) {
    if (!sequence->is_over) continue;
    Slot& slot = slots[static_cast<std::size_t>(sequence->slot)];
    slot.is_used = false;
    sequence->tokens.resize(static_cast<std::size_t>(sequence->done));
    slot.cached = std::move(sequence->tokens);
    sequence.reset();
  }
  std::erase(live, nullptr);
}

}  // namespace wick
