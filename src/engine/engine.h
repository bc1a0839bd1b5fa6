// Where numbers meet text: many sequences share one forward pass, prompts share their common past.
// submit() and cancel() may be called from any thread; step() is the heartbeat, called by one
// thread (tests call it directly, production calls run()). What a request yields depends on the
// model, the prompt, the parameters and the seed alone: never on who else is in the batch, on chunk
// sizes, cache hits, evictions or preemptions.
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
  // What was drawn behind the tokens of the delta before, up to the token that brought the end of
  // the text: so which text a token comes with depends on no reader's pace. The last delta has no
  // text, and all that is left: the end token, those of a stop sequence.
  std::span<const TokenId> tokens = {};
  // With GenerateRequest::top_logprobs: for each of `tokens` 1 + top_logprobs entries, itself
  // first.
  std::span<const IdLogprob> logprobs = {};
  FinishReason finish = FinishReason::kNone;  // not kNone: the last delta of this request
  Usage usage = {};                           // of the last delta
  const Error* error = nullptr;               // with kError; what was said before it stands
};

class DeltaSink {  // called by the engine's thread, inside the hot path: must neither allocate nor
                   // lock nor block
 public:
  virtual ~DeltaSink() = default;
  // False: the reader is behind. The sequence pauses, and offers again once somebody has called
  // Engine::wake().
  virtual bool offer(const TextDelta& delta) noexcept = 0;

  // Nobody will ever read again: the request ends as cancelled, without a last delta. Who closes it
  // calls Engine::wake().
  virtual bool is_closed() const noexcept { return false; }
};

struct GenerateRequest {
  std::vector<TokenId> prompt = {};
  int max_tokens = 0;  // 0 = to the context's end
  SamplingParams sampling = {};
  std::vector<std::string> stop = {};        // stop sequences, matched on bytes; not shown
  std::vector<TokenId> stop_token_ids = {};  // end the answer like the model's own end tokens
  bool ignore_end = false;                   // go on past end tokens
  int top_logprobs = -1;       // of each token the score and so many likeliest; -1 = none
  bool is_continuing = false;  // the answer goes on behind other text: a leading space is kept
  std::shared_ptr<LogitsEditor> editor = {};  // may be null
  std::shared_ptr<DeltaSink> sink = {};       // shared: the reader may leave first

  std::uint64_t tenant = 0;  // tenants share time fairly, and of the cache nothing
  int priority = 0;          // -2 (in the background) to 2; waiting raises it
  int time_limit_ms = 0;     // from submit(); then kError "time_limit". 0 = none
  // Text is offered once so many tokens have brought it, or before the first of it has waited so
  // long, if the next token takes as long as the last one; the end offers all. 0 = not by this one;
  // both 0 = each piece as it comes.
  int emit_tokens = 0;
  int emit_ms = 0;
};

// An answer, and how likely its prompt was. Nothing of the prompt is reused.
struct ScoreRequest {
  GenerateRequest generate = {};  // with top_logprobs, 0 or more
  // Filled before the last delta: for each token of the prompt what TextDelta::logprobs has. Of
  // those that nothing preceded (the first), all ids are -1. Shared: the reader may leave first.
  std::shared_ptr<std::vector<IdLogprob>> logprobs = {};
};

// The prompt's states as one vector. Nothing of it is reused, since the cache does not hold them.
struct EmbedRequest {
  std::vector<TokenId> prompt = {};
  Pooling pooling = Pooling::kMean;
  std::uint64_t tenant = 0;  // these as those of GenerateRequest
  int priority = 0;
  int time_limit_ms = 0;
};

struct EngineOptions {
  int max_seqs = 4;
  int context = 0;  // 0 = the smaller of the model's and what kv_limit_bytes holds
  // The cache of all sequences and of earlier prompts together; at least one context. Memory is
  // taken as it fills.
  std::uint64_t kv_limit_bytes = 1'000'000'000;
  int prefill_chunk = 512;  // prompt tokens in one step
  // Steps that sequences share carry no more prompt tokens than fit this time; 0 = as many as
  // prefill_chunk says.
  int step_target_ms = 100;
  int max_queue = 256;  // requests that wait; more are refused
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  // Tokens guessed ahead, by a draft model or from what the text said before, at most so many a
  // step; 0 = none. The answer is the same with and without.
  int draft_max = 0;
  bool adaptive_drafting = true;  // drafting pauses while the clock says that it costs time
  bool enable_prefix_caching = true;
  bool explain_other_tenants = false;      // misses may name other tenants; these may not want it
  const Clock* clock = &Clock::machine();  // outlives the engine; not null
};

// "bad_NAME" (kInvalid) for what is out of range.
Result<void> check(const EngineOptions& options);

// The cache that these options give a model: its context, and the positions of all sequences and
// earlier prompts together.
MemoryOptions plan_cache(const DecoderSpec& spec, const EngineOptions& options,
                         int max_batch_tokens);

// The keys and values of a text's beginning, as bytes that an engine of the same model and cache
// types can take in again.
struct SavedPrefix {
  std::vector<TokenId> tokens = {};
  std::vector<std::byte> blocks = {};  // for each 16 tokens begun
};

struct DeviceBytes {
  const Device* device = nullptr;
  std::uint64_t bytes = 0;
};

struct EngineLoad {
  int running = 0, waiting = 0;           // requests
  int slots = 0;                          // requests that may run at once
  int cache_blocks = 0, free_blocks = 0;  // of 16 tokens; free: no request under way holds them
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(Decoder decoder,
                                                std::shared_ptr<const Tokenizer> tokenizer,
                                                const EngineOptions& options,
                                                std::unique_ptr<DraftModel> draft = nullptr);
  ~Engine();

  int context() const noexcept;
  int threads() const noexcept;  // that compute for it
  ModelMemory memory() const noexcept;
  // What of it lies where, in the order of the placement; on the host lies some bookkeeping beside.
  std::vector<DeviceBytes> device_bytes() const;
  const Tokenizer& tokenizer() const noexcept;
  std::size_t max_delta_bytes(const GenerateRequest& request) const noexcept;  // of TextDelta::text

  // Any thread. Refused: an empty prompt, ids out of range, parameters out of range (kInvalid); a
  // prompt that does not fit, or prompt + max_tokens that does not (kInvalid, id
  // "context_length_exceeded", with the numbers); a full queue (kUnavailable).
  Result<RequestId> submit(GenerateRequest request);
  Result<RequestId> submit(ScoreRequest request);
  Result<std::shared_ptr<EmbedResult>> submit(EmbedRequest request);
  void cancel(RequestId id) noexcept;  // takes effect at the next step; a step of this request
                                       // alone (a long prompt) is given up between two layers
  // Any thread: a reader that refused text has room, or is gone.
  void wake() noexcept;

  // Any thread but the engine's, while that runs: they wait until it has done it, between two
  // steps.
  // As far as cached, and up to the first block that holds a value that is not finite.
  SavedPrefix save_prefix(std::uint64_t tenant, std::vector<TokenId> tokens);
  // Tokens that found room. The prefix may be anybody's bytes: check_prefix() comes first.
  Result<int> restore_prefix(std::uint64_t tenant, const SavedPrefix& prefix);
  // kCorrupt, id "bad_prefix": tokens outside the vocabulary, blocks of other sizes, values that no
  // cache writes (NaN, infinities). Any thread, waits for nobody.
  Result<void> check_prefix(const SavedPrefix& prefix) const;
  // Of a saved block, 16 positions; windows and snapshots of states come on top where they are.
  std::size_t least_block_bytes() const noexcept;
  // What a request would take if it ran now, or what submit() would refuse it for. Needs no sink.
  Result<RequestEstimate> estimate(const GenerateRequest& request);
  Result<RequestEstimate> estimate(const ScoreRequest& request);
  EngineLoad load();
  // A tenant that is gone: its requests end as cancelled, what is cached of its texts is dropped;
  // with `wipe` no byte of it stays in the cache. Returns the number of blocks that were dropped.
  // Who asks with the same number later begins anew.
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
