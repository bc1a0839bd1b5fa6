// The engine's state, shared by engine.cc (create, submit, run), requests.cc (between two steps)
// and step.cc (the hot path).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/inbox.h"
#include "engine/engine.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"
#include "engine/step_cost.h"

namespace wick {

struct Cancel {
  RequestId id = 0;
  Cancel* inbox_next = nullptr;
};

// A task of another thread, to be run between two steps; that thread waits.
struct Task {
  std::function<void()> work;
  Task* inbox_next = nullptr;
};

struct Engine::State {
  State(Decoder d, SequenceMemory c, std::shared_ptr<const Tokenizer> t, const EngineOptions& o,
        int context_tokens);

  Decoder decoder;
  SequenceMemory memory;
  std::shared_ptr<const Tokenizer> tokenizer;
  EngineOptions options;
  int context;

  // Any thread.
  std::atomic<RequestId> next_id = 1;
  std::atomic<int> n_queued = 0;  // submitted, not yet admitted
  Inbox<Sequence> inbox;
  Inbox<Cancel> cancels;
  Inbox<Task> tasks;
  // The request that has the current step alone, 0 = none; cancel() may then abort that step.
  std::atomic<RequestId> sole_request = 0;
  std::atomic<bool> abort_requested = false;

  // Engine thread.
  std::vector<std::unique_ptr<Sequence>> sequences;  // all of them, in order of arrival
  Scheduler scheduler;
  StepCost cost;  // of steps with several sequences
  DraftCost draft_pay;
  std::unique_ptr<DraftModel> draft;  // may be null: then n-gram drafts
  std::int64_t draft_ns = 0;          // time of drafting in this step
  Error failure = {};                 // of the last forward pass that failed
  // Non-finite logits: the model file is at fault, not the device.
  const Error no_token = {
      .code = ErrorCode::kCorrupt,
      .id = "no_token",
      .message = "no logit of the model's says anything: all are NaN or -infinity",
      .hint = "check the file with: wick model verify"};
  const Error banned_all = {
      .code = ErrorCode::kInvalid,
      .id = "banned_all",
      .message =
          "logit_bias, min_tokens or a logits hook bans every token that the model could generate",
      .hint = "ban fewer tokens"};
  const Error banned_format = {
      .code = ErrorCode::kInvalid,
      .id = "banned_format",
      .message = "every token that the response format allows here is banned or has no logit",
      .hint = "ban fewer tokens: logit_bias, min_tokens, a logits hook"};

  // The next batch; sized once.
  std::vector<TokenId> tokens;
  std::vector<Pos> positions;
  std::vector<SeqId> seqs;
  std::vector<int> logit_rows;
  std::vector<AdapterRun> adapter_runs;
  std::vector<TokenId> types;  // of encoders with two; else empty

  std::int64_t now_ns() const noexcept { return options.clock->now_ns(); }

  // The number of tokens a request may generate, or why it cannot run. Any thread.
  Result<int> check_request(const GenerateRequest& request, PromptOutput prompt_output) const;

  // Between two steps.
  void take_requests();
  void take_arrivals();
  void do_tasks();
  void wait_for(const std::function<void()>& work);  // any other thread; so is the next one
  Result<RequestEstimate> estimate(const GenerateRequest& request, PromptOutput prompt_output);
  void take(std::unique_ptr<Sequence>& arrived);
  void apply_cancels() noexcept;
  int close_tenant(std::uint64_t tenant, bool wipe);
  void end_late_and_unread();
  std::int64_t next_deadline_ns() const noexcept;
  void begin_admitted() noexcept;
  void retire();
  void cancel_all() noexcept;

  // Hot:
  void deliver_all() noexcept;
  void propose() noexcept;
  StepBudget budget() const noexcept;
  Batch gather(std::span<const Slice> slices) noexcept;
  void compute(std::span<const Slice> slices) noexcept;
  void sample_and_emit(std::span<const Slice> slices) noexcept;
  void draw(const Slice& slice, std::span<float> rows) noexcept;
  void pool(const Slice& slice, int first) noexcept;
  void score_prompt(const Slice& slice, std::span<const float> rows) noexcept;
  void accept(Sequence& s, std::span<float> logits) noexcept;
  TokenId choose(Sequence& s, std::span<float> logits) noexcept;
  void learn_cost(std::span<const Slice> slices, std::int64_t ns) noexcept;
  void fail(std::span<const Slice> slices) noexcept;
};

// Hot: offers the reader the text that is due, and the last delta if the sequence has stopped.
// False: the reader is behind.
bool deliver(Sequence& s, std::int64_t now_ns) noexcept;

}  // namespace wick
