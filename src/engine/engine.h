// The inference engine: continuous batching and prefix caching over a Decoder. submit() and
// cancel() may be called from any thread; one thread calls step() (tests directly, production
// through run()). The output of a request depends on model, prompt, parameters and seed alone:
// never on other requests in the batch, chunk sizes, cache hits, evictions or preemptions.
//
//   WICK_TRY(auto engine, Engine::create(std::move(decoder), tokenizer, {}));
//   GenerateRequest request{.prompt = ids, .max_tokens = 64, .sink = sink};
//   WICK_TRY(const RequestId id, engine->submit(std::move(request)));
//   while (engine->step()) {}
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/types.h"
#include "engine/draft_model.h"
#include "engine/pooling.h"
#include "engine/prefix_cache.h"
#include "engine/token_filter.h"
#include "model/decoder.h"
#include "model/sequence_memory.h"
#include "sample/logprobs.h"
#include "sample/sampler.h"
#include "text/tokenizer.h"
#include "wick/model_info.h"
#include "wick/usage.h"

namespace wick {

enum class PromptOutput : std::uint8_t;  // engine/scheduler.h

struct TextDelta {
  std::string_view text = {};  // whole characters; valid during the call
  // Tokens sampled since the previous delta, including the one that completed `text`; the split
  // does not depend on how fast the reader is. The last delta has no text and the remaining tokens:
  // EOS, those of a stop sequence.
  std::span<const TokenId> tokens = {};
  // With GenerateRequest::top_logprobs: 1 + top_logprobs entries for each of `tokens`, the token
  // itself first.
  std::span<const IdLogprob> logprobs = {};
  FinishReason finish = FinishReason::kNone;  // not kNone: the last delta of this request
  Usage usage = {};                           // of the last delta
  const Error* error = nullptr;               // with kError; earlier text stays valid
};

class DeltaSink {  // called by the engine thread on the hot path: must not allocate, lock or block
 public:
  virtual ~DeltaSink() = default;
  // False: the reader is behind. The sequence pauses until Engine::wake() is called, then offers
  // again.
  virtual bool offer(const TextDelta& delta) noexcept = 0;

  // True when the reader is gone: the request is cancelled without a last delta. Call
  // Engine::wake() after closing.
  virtual bool is_closed() const noexcept { return false; }
};

// A LoRA adapter of a request: its number in EngineSources::adapters, and a factor of its change.
struct AdapterUse {
  int adapter = 0;
  float scale = 1;

  friend bool operator==(const AdapterUse&, const AdapterUse&) = default;
};

// A number for these uses in prefix keys; 0 = none.
std::uint64_t key_of(std::span<const AdapterUse> uses) noexcept;

struct GenerateRequest {
  std::vector<TokenId> prompt = {};
  int max_tokens = 0;  // 0 = to the context's end
  SamplingParams sampling = {};
  std::vector<std::string> stop = {};        // stop sequences, matched on bytes; not shown
  std::vector<TokenId> stop_token_ids = {};  // end the answer as EOG tokens do
  bool ignore_end = false;                   // ignore EOG tokens
  // Logprob of each generated token and its top_logprobs alternatives; -1 = none.
  int top_logprobs = -1;
  bool is_continuing = false;  // the answer continues other text: a leading space is kept
  std::vector<TokenId> shown_tokens = {};     // control tokens that are part of the text
  std::shared_ptr<LogitsEditor> editor = {};  // may be null
  std::shared_ptr<TokenFilter> filter = {};   // structured output; may be null
  std::shared_ptr<DeltaSink> sink = {};       // shared: the reader may be destroyed first

  std::vector<AdapterUse> adapters = {};  // ascending by number, each once
  int second_begin = 0;      // encoders: where the second text of a pair begins; 0 = there is none
  std::uint64_t tenant = 0;  // tenants get fair scheduling and never share cache entries
  std::uint64_t client = 0;  // of one fair share; 0 = the tenant's
  int priority = 0;          // -2 (background) to 2; rises while waiting
  int time_limit_ms = 0;     // from submit(); then kError "time_limit". 0 = none
  // How text is grouped (wick/generation.h): a delta is offered when it has emit_tokens tokens, or
  // before its first character would wait longer than emit_ms. 0 = no such condition; both 0 = each
  // piece at once.
  int emit_tokens = 0;
  int emit_ms = 0;
};

// Generation with logprobs of the prompt; bypasses prefix caching.
struct ScoreRequest {
  GenerateRequest generate = {};  // with top_logprobs, 0 or more
  // Filled before the last delta, in the form of TextDelta::logprobs. The first prompt token has no
  // prediction; its ids are -1. Shared: the reader may be destroyed first.
  std::shared_ptr<std::vector<IdLogprob>> logprobs = {};
};

// The prompt's hidden states, pooled to one vector; bypasses prefix caching, which does not keep
// hidden states.
struct EmbedRequest {
  std::vector<TokenId> prompt = {};
  Pooling pooling = Pooling::kMean;
  std::vector<AdapterUse> adapters = {};  // as in GenerateRequest
  int second_begin = 0;
  std::uint64_t tenant = 0, client = 0;
  int priority = 0;
  int time_limit_ms = 0;
};

struct EngineOptions {
  int max_seqs = 4;
  int context = 0;  // 0 = the model's, or less if kv_limit_bytes holds less
  // KV cache for running sequences and cached prefixes; at least one context. Memory is used as it
  // fills.
  std::uint64_t kv_limit_bytes = 1'000'000'000;
  int prefill_chunk = 512;  // prompt tokens in one step
  // Target time of steps with several sequences: bounds their prompt tokens; 0 = bounded by
  // prefill_chunk only.
  int step_target_ms = 100;
  int max_queue = 256;  // waiting requests; more are refused
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  // Speculative decoding: most draft tokens per step, from a draft model or n-grams of the text; 0
  // = off. The output is identical.
  int draft_max = 0;
  bool adaptive_drafting = true;  // drafting pauses while it costs more time than it saves
  bool enable_prefix_caching = true;
  bool explain_other_tenants = false;      // cache misses may reveal texts of other tenants
  const Clock* clock = &Clock::machine();  // must outlive the engine; not null
};

// Error id "bad_NAME" (kInvalid) for an option out of range.
Result<void> check(const EngineOptions& options);

// The options as a model of this kind runs with them. An encoder has no cache to keep: keys and
// values are f32, there is no prefix caching, a step takes a whole context and many texts.
EngineOptions fitted(EngineOptions options, const DecoderSpec& spec);

// The cache size that these options give a model: the context, and the positions of running
// sequences and cached prefixes together.
MemoryOptions plan_cache(const DecoderSpec& spec, const EngineOptions& given, int max_batch_tokens);

// A cached prefix as bytes, for an engine of the same model and KV cache type.
struct SavedPrefix {
  std::vector<TokenId> tokens = {};
  std::vector<std::byte> blocks = {};  // one block for each 16 tokens, the last may be partial
};

struct DeviceBytes {
  const Device* device = nullptr;
  std::uint64_t bytes = 0;
};

struct EngineLoad {
  int running = 0, waiting = 0;           // requests
  int slots = 0;                          // requests that may run at once
  int cache_blocks = 0, free_blocks = 0;  // of 16 tokens; free: not used by running requests
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(Decoder decoder,
                                                std::shared_ptr<const Tokenizer> tokenizer,
                                                const EngineOptions& options,
                                                std::unique_ptr<DraftModel> draft = nullptr);
  ~Engine();

  int context() const noexcept;
  const DecoderSpec& spec() const noexcept;  // of its model
  int threads() const noexcept;              // that compute for it
  ModelMemory memory() const noexcept;
  // Memory on each device, in the order of the placement; some bookkeeping on the host comes on
  // top.
  std::vector<DeviceBytes> device_bytes() const;
  const Tokenizer& tokenizer() const noexcept;
  std::size_t max_delta_bytes(const GenerateRequest& request) const noexcept;  // of TextDelta::text

  // Any thread. Refused: an empty prompt, ids out of range, parameters out of range (kInvalid); a
  // prompt that does not fit, or prompt + max_tokens that does not (kInvalid, id
  // "context_length_exceeded", with the numbers); a full queue (kUnavailable).
  Result<RequestId> submit(GenerateRequest request);
  Result<RequestId> submit(ScoreRequest request);
  Result<std::shared_ptr<EmbedResult>> submit(EmbedRequest request);
  void cancel(RequestId id) noexcept;  // takes effect at the next step; a step with this request
                                       // only is aborted between two layers
  // Any thread: a reader that refused text can take some now, or is gone.
  void wake() noexcept;

  // Any thread but the engine's, while it runs: these block until the engine has done it, between
  // two steps. Saves the cached part, up to the first block that contains a non-finite value.
  SavedPrefix save_prefix(PrefixOwner owner, std::vector<TokenId> tokens);
  // Returns the number of restored tokens. Untrusted bytes: call check_prefix() first.
  Result<int> restore_prefix(PrefixOwner owner, const SavedPrefix& prefix);
  // kCorrupt, id "bad_prefix": token ids out of range, wrong block sizes, values that a cache never
  // contains (NaN, infinities). Any thread; does not block.
  Result<void> check_prefix(const SavedPrefix& prefix) const;
  // Bytes of a saved block of 16 positions, without windows and state snapshots.
  std::size_t least_block_bytes() const noexcept;
  // Estimates a request without running it; fails where submit() would. Needs no sink.
  Result<RequestEstimate> estimate(const GenerateRequest& request);
  Result<RequestEstimate> estimate(const ScoreRequest& request);
  EngineLoad load();
  // Removes a tenant: cancels its requests and drops its cached prefixes; `wipe` also zeroes them.
  // Returns the number of dropped blocks. A later request with the same number starts as a new
  // tenant.
  int close_tenant(std::uint64_t tenant, bool wipe);

  // Engine thread.
  bool step();                            // one forward pass; false = nothing to do
  void run(const std::stop_token& stop);  // steps, and sleeps while there is nothing to do

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  template <class Finish>
  Result<RequestId> submit(GenerateRequest request, PromptOutput prompt_output,
                           const Finish& finish);
  std::unique_ptr<State> state_;
};

}  // namespace wick
