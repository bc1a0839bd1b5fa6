#include "engine/engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>

#include "base/catch_bad_alloc.h"
#include "base/strings.h"
#include "engine/limits.h"
#include "engine/state.h"

namespace wick {

namespace {

constexpr int kSpareContexts = 8;  // for cached prefixes, if the byte budget allows

Error invalid(std::string id, std::string message) {
  return {.code = ErrorCode::kInvalid, .id = std::move(id), .message = std::move(message)};
}

// "bad_NAME", with the value seen and those allowed.
Result<void> check_range(std::string_view name, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return invalid(cat("bad_", name),
                 cat(name, " is ", value, ", allowed are ", least, " to ", most));
}

MemoryOptions memory_options(const EngineOptions& options, int context, int max_batch_tokens) {
  return {.k_type = options.k_type,
          .v_type = options.v_type,
          .max_seqs = options.max_seqs,
          .context = context,
          .max_batch_tokens = max_batch_tokens};
}

// Blocks that fit the budget after the fixed part of the memory.
std::uint64_t blocks_in_budget(const MemoryCost& cost, const EngineOptions& options) noexcept {
  const std::uint64_t limit = options.kv_limit_bytes;
  const std::uint64_t left = limit - std::min<std::uint64_t>(limit, cost.fixed);
  constexpr std::uint64_t kMost = 1U << 30;
  if (cost.per_position == 0) return kMost;
  return std::min(left / cost.per_position / kBlockTokens, kMost);
}

// Positions of running sequences and cached prefixes: what fits the budget, but no more than
// useful, and at least one context plus a block for copy-on-write.
std::int64_t positions_for(const DecoderSpec& spec, const EngineOptions& options,
                           const MemoryOptions& memory) {
  if (spec.encoder) {  // a step's texts, and what the scheduler keeps free for each
    return (std::int64_t{blocks_for(memory.max_batch_tokens)} + 2 * (options.max_seqs + 1)) *
           kBlockTokens;
  }
  const std::int64_t one = blocks_for(memory.context);
  const std::int64_t useful = one * (options.max_seqs + kSpareContexts);
  const auto fits = static_cast<std::int64_t>(blocks_in_budget(memory_cost(spec, memory), options));
  return std::max(one + 1, std::min(useful, fits)) * kBlockTokens;
}

int fitting_context(const DecoderSpec& spec, const EngineOptions& options, int max_batch_tokens) {
  if (options.context > 0) return std::min(options.context, kMaxContext);
  const MemoryCost cost =
      memory_cost(spec, memory_options(options, spec.ctx_train, max_batch_tokens));
  const std::uint64_t blocks = std::max<std::uint64_t>(2, blocks_in_budget(cost, options)) - 1;
  return static_cast<int>(std::min<std::uint64_t>(
      {blocks * kBlockTokens, static_cast<std::uint64_t>(spec.ctx_train), kMaxContext}));
}

Result<void> check_adapters(std::span<const AdapterUse> uses, int n) {
  int last = -1;
  for (const AdapterUse& use : uses) {
    if (use.adapter <= last || use.adapter >= n || !std::isfinite(use.scale)) {
      return invalid("bad_adapter", cat("adapter ", use.adapter, " with scale ", use.scale,
                                        ": the model has ", n, " adapters, each may stand once"));
    }
    last = use.adapter;
  }
  return {};
}

}  // namespace

std::uint64_t key_of(std::span<const AdapterUse> uses) noexcept {
  std::uint64_t key = 0;
  for (const AdapterUse& use : uses) {  // as MurmurHash3 mixes
    key ^= std::uint64_t{std::bit_cast<std::uint32_t>(use.scale)} << 32 |
           static_cast<std::uint32_t>(use.adapter + 1);
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdULL;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    key ^= key >> 33;
  }
  return key;
}

Result<void> check(const EngineOptions& options) {
  WICK_DO(check_range("max_seqs", options.max_seqs, 1, kMaxSeqs));
  WICK_DO(check_range("prefill_chunk", options.prefill_chunk, 1, kMaxBatchTokens));
  WICK_DO(check_range("draft_max", options.draft_max, 0, kMaxDraft));
  WICK_DO(check_range("max_queue", options.max_queue, 1, kMaxQueue));
  return check_range("step_target_ms", options.step_target_ms, 0, kMaxMilliseconds);
}

EngineOptions fitted(EngineOptions options, const DecoderSpec& spec) {
  if (!spec.encoder) return options;
  if (options.context == 0) options.context = std::min(spec.ctx_train, kMaxBatchTokens);
  options.k_type = options.v_type = KvType::kF32;
  options.enable_prefix_caching = false;
  options.draft_max = 0;
  options.max_seqs = std::max(options.max_seqs, kEncoderSeqs);
  options.prefill_chunk = std::max({options.prefill_chunk, options.context, options.max_seqs});
  return options;
}

MemoryOptions plan_cache(const DecoderSpec& spec, const EngineOptions& given,
                         int max_batch_tokens) {
  const EngineOptions options = fitted(given, spec);
  MemoryOptions cache =
      memory_options(options, fitting_context(spec, options, max_batch_tokens), max_batch_tokens);
  cache.positions = positions_for(spec, options, cache);
  return cache;
}

Engine::State::State(Decoder d, SequenceMemory c, std::shared_ptr<const Tokenizer> t,
                     const EngineOptions& o, int context_tokens)
    : decoder(std::move(d)),
      memory(std::move(c)),
      tokenizer(std::move(t)),
      options(o),
      context(context_tokens),
      scheduler(memory, {.max_seqs = o.max_seqs,
                         .max_batch_tokens = decoder.options().max_batch_tokens,
                         .max_rows = decoder.options().max_logit_rows,
                         .takes_whole_prompts = decoder.spec().encoder.has_value(),
                         .enable_prefix_caching = o.enable_prefix_caching,
                         .explain_other_tenants = o.explain_other_tenants}),
      cost(o.step_target_ms * std::int64_t{1'000'000}) {
  options.prefill_chunk = std::min(options.prefill_chunk, decoder.options().max_batch_tokens);
  const auto n_tokens = static_cast<std::size_t>(decoder.options().max_batch_tokens);
  logit_rows.resize(static_cast<std::size_t>(decoder.options().max_logit_rows));
  tokens.resize(n_tokens);
  positions.resize(n_tokens);
  seqs.resize(n_tokens);
  if (decoder.spec().encoder && decoder.spec().encoder->n_types > 1) types.resize(n_tokens);
  adapter_runs.resize(static_cast<std::size_t>(o.max_seqs) * decoder.options().adapters.size());
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}

Engine::~Engine() = default;

int Engine::context() const noexcept {
  return state_->context;
}

const DecoderSpec& Engine::spec() const noexcept {
  return state_->decoder.spec();
}

int Engine::threads() const noexcept {
  return state_->decoder.threads();
}

ModelMemory Engine::memory() const noexcept {
  const State& s = *state_;
  const std::uint64_t cache = s.memory.content_bytes();
  ModelMemory all{
      .weight_bytes = s.decoder.weight_bytes(),
      .cache_bytes = cache,
      .scratch_bytes = s.decoder.scratch_bytes() + s.scheduler.bytes() + s.memory.bytes() - cache};
  if (s.draft == nullptr) return all;
  all.draft_weight_bytes = s.draft->decoder().weight_bytes();
  all.draft_cache_bytes = s.draft->memory().bytes();
  all.draft_scratch_bytes = s.draft->decoder().scratch_bytes();
  return all;
}

std::vector<DeviceBytes> Engine::device_bytes() const {
  std::vector<DeviceBytes> all;
  const auto add = [&all](const Decoder& decoder, const SequenceMemory& memory) {
    const auto& devices = decoder.placement().devices;
    for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
      const Device* const device = devices[static_cast<std::size_t>(i)];
      const auto is_it = [device](const DeviceBytes& one) { return one.device == device; };
      auto at = std::find_if(all.begin(), all.end(), is_it);
      if (at == all.end()) at = all.insert(at, {.device = device});
      at->bytes += decoder.bytes_on(i) + memory.bytes_on(i);
    }
  };
  add(state_->decoder, state_->memory);
  if (state_->draft != nullptr) add(state_->draft->decoder(), state_->draft->memory());
  return all;
}

std::size_t Engine::max_delta_bytes(const GenerateRequest& request) const noexcept {
  const State& s = *state_;
  return Emission::most_bytes(longest_piece(*s.tokenizer, s.options.draft_max),
                              request.emit_tokens > 1 || request.emit_ms > 0);
}

const Tokenizer& Engine::tokenizer() const noexcept {
  return *state_->tokenizer;
}

Result<std::unique_ptr<Engine>> Engine::create(Decoder decoder,
                                               std::shared_ptr<const Tokenizer> tokenizer,
                                               const EngineOptions& given,
                                               std::unique_ptr<DraftModel> draft) {
  const EngineOptions options = fitted(given, decoder.spec());
  WICK_DO(check(options));
  const DecoderOptions& sizes = decoder.options();
  if (std::min(sizes.max_logit_rows, sizes.max_batch_tokens) < options.max_seqs) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_max_seqs",
                 .message = cat("the decoder takes ", sizes.max_batch_tokens, " tokens and gives ",
                                sizes.max_logit_rows, " rows of logits a step, ", options.max_seqs,
                                " sequences need as many of both")};
  }
  const MemoryOptions cache = plan_cache(decoder.spec(), options, sizes.max_batch_tokens);
  WICK_TRY(SequenceMemory memory,
           SequenceMemory::create(decoder.placement(), decoder.spec(), cache));
  auto state = std::make_unique<State>(std::move(decoder), std::move(memory), std::move(tokenizer),
                                       options, cache.context);
  state->draft = std::move(draft);
  return std::unique_ptr<Engine>(new Engine(std::move(state)));
}

Result<int> Engine::State::check_request(const GenerateRequest& request,
                                         PromptOutput prompt_output) const {
  const int vocab = decoder.spec().vocab;
  const auto check_id = [vocab](TokenId id, const char* error, const char* what) -> Result<void> {
    if (id >= 0 && id < vocab) return {};
    return invalid(error, cat(what, id, " is outside the vocabulary of ", vocab));
  };
  const auto check_ids = [&](std::span<const TokenId> ids, const char* what) -> Result<void> {
    for (const TokenId id : ids)
      WICK_DO(check_id(id, "bad_token", what));
    return {};
  };
  if (request.prompt.empty()) return invalid("empty_prompt", "the prompt is empty");
  WICK_DO(check_ids(request.prompt, "the prompt's token "));
  WICK_DO(check_ids(request.stop_token_ids, "stop id "));
  WICK_DO(check(request.sampling));
  for (const LogitBias& one : request.sampling.logit_bias)
    WICK_DO(check_id(one.id, "bad_logit_bias", "the logit bias of token "));
  WICK_DO(check_range("max_tokens", request.max_tokens, 0, std::numeric_limits<int>::max()));
  WICK_DO(check_range("priority", request.priority, -kMaxPriority, kMaxPriority));
  WICK_DO(check_range("time_limit_ms", request.time_limit_ms, 0, kMaxMilliseconds));
  WICK_DO(check_range("emit_tokens", request.emit_tokens, 0, kMaxEmitTokens));
  WICK_DO(check_range("emit_ms", request.emit_ms, 0, kMaxMilliseconds));
  WICK_DO(check_range("top_logprobs", request.top_logprobs, -1, kMaxTopLogprobs));
  if (prompt_output == PromptOutput::kLogprobs && request.top_logprobs < 0) {
    return invalid("bad_top_logprobs", "logprobs of the prompt need top_logprobs, 0 or more");
  }
  if (request.stop.size() > kMaxStops) {
    return invalid("bad_stop",
                   cat(request.stop.size(), " stop sequences, allowed are ", kMaxStops));
  }
  if (request.stop_token_ids.size() > kMaxStopIds) {
    return invalid("bad_stop",
                   cat(request.stop_token_ids.size(), " stop ids, allowed are ", kMaxStopIds));
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty() || stop.size() > kMaxStopBytes) {
      return invalid("bad_stop", cat("a stop sequence has ", stop.size(),
                                     " bytes, allowed are 1 to ", kMaxStopBytes));
    }
  }
  WICK_DO(check_adapters(request.adapters, static_cast<int>(decoder.options().adapters.size())));
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const bool generates = prompt_output != PromptOutput::kHiddenStates;
  if (generates && decoder.spec().encoder) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "encoder",
                 .message = "the model is an encoder: it makes embeddings, not text",
                 .hint = "use embeddings (wick embed, /v1/embeddings), or another model"};
  }
  const std::int64_t wanted = generates ? std::max(1, request.max_tokens) : 0;
  if (prompt + wanted > context) {
    Error error = invalid("context_length_exceeded", cat("prompt ", prompt, " + max ", wanted,
                                                         " > context ", context, " tokens"));
    error.hint = "shorten the prompt, lower max_tokens, or raise the context with -c";
    return error;
  }
  if (!generates) return 1;  // it ends after its prompt
  return request.max_tokens > 0 ? request.max_tokens : static_cast<int>(context - prompt);
}

// `finish` adds what the sequence's prompt_output needs.
template <class Finish>
Result<RequestId> Engine::submit(GenerateRequest request, PromptOutput prompt_output,
                                 const Finish& finish) {
  State& s = *state_;
  WICK_TRY(const int max_tokens, s.check_request(request, prompt_output));
  if (s.n_queued.fetch_add(1, std::memory_order_relaxed) >= s.options.max_queue) {
    s.n_queued.fetch_sub(1, std::memory_order_relaxed);
    return Error{
        .code = ErrorCode::kUnavailable,
        .id = "queue_full",
        .message = cat("the queue holds ", s.options.max_queue, " requests, which is its limit"),
        .hint = "try again later"};
  }
  const RequestId id = s.next_id.fetch_add(1, std::memory_order_relaxed);
  auto made = catch_bad_alloc([&]() -> Result<std::unique_ptr<Sequence>> {
    auto sequence = std::make_unique<Sequence>(id, prompt_output, std::move(request), *s.tokenizer,
                                               SequenceSizes{.max_tokens = max_tokens,
                                                             .vocab = s.decoder.spec().vocab,
                                                             .draft_max = s.options.draft_max},
                                               s.now_ns());
    finish(*sequence);
    return sequence;
  });
  if (!made) {
    s.n_queued.fetch_sub(1, std::memory_order_relaxed);
    return std::move(made).error();
  }
  s.inbox.push(*std::move(made));
  return id;
}

Result<RequestId> Engine::submit(GenerateRequest request) {
  WICK_CHECK(request.sink != nullptr, "an answer has a sink");
  return submit(std::move(request), PromptOutput::kLastLogits, [](Sequence&) {});
}

Result<RequestId> Engine::submit(ScoreRequest request) {
  WICK_CHECK(request.generate.sink != nullptr && request.logprobs != nullptr, "results have room");
  return submit(std::move(request.generate), PromptOutput::kLogprobs, [&](Sequence& s) {
    s.prompt_scores = std::move(request.logprobs);
    s.prompt_scores->resize(s.scorer.per_token() * s.tokens.size());
  });
}

Result<std::shared_ptr<EmbedResult>> Engine::submit(EmbedRequest request) {
  std::shared_ptr<EmbedResult> result;
  const DecoderSpec& spec = state_->decoder.spec();
  WICK_DO(submit({.prompt = std::move(request.prompt),
                  .adapters = std::move(request.adapters),
                  .second_begin = request.second_begin,
                  .tenant = request.tenant,
                  .client = request.client,
                  .priority = request.priority,
                  .time_limit_ms = request.time_limit_ms},
                 PromptOutput::kHiddenStates, [&](Sequence& s) {
                   result = std::make_shared<EmbedResult>(s.id, request.pooling, spec.d_model,
                                                          spec.embedding_width());
                   s.embed = result;
                 }));
  return result;
}

Result<RequestEstimate> Engine::estimate(const GenerateRequest& request) {
  return state_->estimate(request, PromptOutput::kLastLogits);
}

Result<RequestEstimate> Engine::estimate(const ScoreRequest& request) {
  return state_->estimate(request.generate, PromptOutput::kLogprobs);
}

void Engine::cancel(RequestId id) noexcept {
  State& s = *state_;
  auto message = std::unique_ptr<Cancel>(new (std::nothrow) Cancel{.id = id});
  if (message == nullptr) return;  // out of memory: the request runs to its end
  s.cancels.push(std::move(message));
  if (s.sole_request.load() == id) s.abort_requested.store(true);
  s.inbox.wake();
}

void Engine::wake() noexcept {
  state_->inbox.wake();
}

void Engine::run(const std::stop_token& stop) {
  State& s = *state_;
  const std::stop_callback wake(stop, [&s] { s.inbox.wake(); });
  while (!stop.stop_requested()) {
    // Steps without work count, too, so that waiting requests can preempt paused ones.
    if (step() || s.scheduler.has_ready()) continue;
    if (const std::int64_t deadline_ns = s.next_deadline_ns(); deadline_ns == 0) {
      s.inbox.wait();
    } else {
      s.inbox.wait_for(std::max<std::int64_t>(1, deadline_ns - s.now_ns()));
    }
  }
  s.take_requests();
  s.cancel_all();
  s.retire();
}

}  // namespace wick
