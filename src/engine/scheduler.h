// Who computes what next, and in which cache blocks: policy over token lists and block tables,
// without a clock, a thread or a model, so that scheduler_test.cc can simulate years of it. The
// tokens a job gets never depend on these choices, only when it gets them.
//
// - A job waits, then lives in a slot. Waiting jobs are admitted by priority (which rises with
//   waiting), then by who got least so far, then by age; the first that does not fit makes all
//   behind it wait, so nobody is overtaken for ever.
// - A job is admitted when blocks for all it knows are free and each live job could still grow.
//   What the prefix cache holds of it is shared, the rest is computed.
// - Decoding jobs run in every step, one token each. What the step has left goes to prompts in
//   chunks. A prompt whose next block another one computes in this step waits for that.
// - If blocks run out while decoding, the newest of the lowest priority goes back to waiting. What
//   it computed stays in the prefix cache as long as nobody needs the room; it resumes with the
//   same bits either way.
//
// Engine thread only. add() and remove() allocate; the rest does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "engine/fair_shares.h"
#include "engine/prefix_cache.h"
#include "model/sequence_memory.h"

namespace wick {

// What is wanted of a job's prompt. All but kLastLogits needs every position computed: nothing of
// it is reused.
enum class PromptOutput : std::uint8_t {
  kLastLogits,   // the logits of the last position
  kLogprobs,     // those of every position
  kHiddenStates  // none; what they are made of, of every position
};

struct Sequence;  // the caller's own; here only kept

struct JobTerms {            // what a caller says of a request
  std::uint64_t id = 0;      // ascending in order of arrival
  std::uint64_t tenant = 0;  // shares nothing with other tenants
  int priority = 0;          // -kMaxPriority (in the background) to kMaxPriority
  PromptOutput wish = PromptOutput::kLastLogits;
  // Prompt and answer so far: the caller's, who appends, and keeps it until remove().
  const std::vector<TokenId>* tokens = nullptr;
  Sequence* owner = nullptr;  // to find it again; may be null
};

struct Job : JobTerms {    // the scheduler's entry of it, until remove()
  bool is_paused = false;  // the caller's: its reader is behind, compute nothing
  bool is_failed = false;  // the caller's: nothing of its last pass goes to the prefix cache
  int n_draft = 0;         // the caller's: guesses at the tokens behind, set before each schedule()

  // The scheduler's; others read.
  SeqId slot = -1;      // -1 = waits
  int done = 0;         // tokens in the cache, always fewer than there are
  int cached = -1;      // of these, found in the cache at the first admission
  CacheMiss miss = {};  // why not more
  int n_preempted = 0;
  std::int64_t came_step = 0;

  // The scheduler's own.
  FairShare* share = nullptr;
  int node = -1;     // in the prefix cache, of the last block that lies there
  int n_shared = 0;  // blocks from the start that lie there
  int paused_steps = 0;

  int known() const noexcept { return static_cast<int>(tokens->size()); }

  int missing() const noexcept { return known() - done; }

  bool is_decoding() const noexcept { return missing() == 1; }
};

struct Slice {  // compute positions [begin, begin + count) of `job`
  Job* job = nullptr;
  int begin = 0, count = 0;
  bool is_last = false;  // the slice reaches the last known token
  int n_draft = 0;       // of its tokens, the last so many are the job's guesses
  int n_rows = 0;        // so many of its last positions have logits
};

struct StepBudget {     // prompt tokens of one step
  int shared = 64;      // beside other sequences
  int exclusive = 512;  // of one sequence, if it has the step to itself
};

struct SchedulerOptions {
  int max_seqs = 4;
  int max_batch_tokens = 512;  // at least max_seqs
  int max_rows = 4;            // of logits in a step; at least max_seqs
  bool enable_prefix_caching = true;
  bool explain_other_tenants = false;
};

class Scheduler {
 public:
  // `memory` has as many sequences and blocks for at least one whole context, and one more.
  Scheduler(SequenceMemory& memory, const SchedulerOptions& options);

  Job& add(const JobTerms& terms);  // it waits; the handle is good until remove()
  // Waiting or live; what it computed stays in the prefix cache, unless its last pass failed.
  void remove(Job& job) noexcept;
  void admit() noexcept;
  bool has_ready() const noexcept;  // a job waits, and not for its reader

  // Hot:
  // The next step's work, room in the cache taken. Counts sum to at most max_batch_tokens.
  std::span<const Slice> schedule(const StepBudget& budget) noexcept;
  // A slice of the last schedule() was computed. Before anything is appended to the job's tokens.
  void computed(const Slice& slice) noexcept;
  // For a slice with guesses, after the others: the first `n_accepted` of them were right, and
  // stand in the job's tokens now; the rest never was.
  void verified(const Slice& slice, int n_accepted) noexcept;
  void publish() noexcept;  // full blocks that were computed, to the prefix cache

  std::span<Job* const> live() const noexcept { return live_; }

  std::span<Job* const> waiting() const noexcept { return waiting_; }

  // How much of a prompt is cached now.
  PrefixCache::Match find(const JobTerms& terms) const noexcept;

  std::int64_t step() const noexcept { return step_; }

  // Cold: between two steps: what the prefix cache holds of `tokens` from their start on, taken out
  // as bytes, one block for each 16 tokens begun; and put in again, as if it had been computed.
  // Both return the number of tokens; restore() stops where nothing can make room.
  int save(std::uint64_t tenant, std::span<const TokenId> tokens,
           std::vector<std::byte>& out) const;
  int restore(std::uint64_t tenant, std::span<const TokenId> tokens,
              std::span<const std::byte> blocks) noexcept;

  // Forgets what the prefix cache holds of a tenant, whose jobs all are removed; with `wipe` no
  // byte of it stays in the blocks. Returns how many blocks that were.
  int close_tenant(std::uint64_t tenant, bool wipe) noexcept;

  std::size_t bytes() const noexcept { return prefixes_.bytes(); }

 private:
  int level(const Job& job) const noexcept;
  bool runs_before(const Job& a, const Job& b) const noexcept;
  bool is_preempted_before(const Job& a, const Job& b) const noexcept;
  bool place(Job& job) noexcept;
  bool preempt_one() noexcept;
  void release_slot(Job& job) noexcept;
  void preempt(Job& job) noexcept;
  bool make_room(int n_blocks) noexcept;
  void reserve_decode() noexcept;
  void add_drafts() noexcept;
  void extend(Job& job) noexcept;
  void schedule_prompts(const StepBudget& budget, int n_decoding) noexcept;
  bool is_computed_by_other(const Job& job) const noexcept;
  void add_slice(Job& job, int count) noexcept;
  int free_rows() const noexcept;

  std::span<const TokenId> block_ids(const Job& job, int index) const noexcept;

  SequenceMemory& memory_;
  SchedulerOptions options_;
  PrefixCache prefixes_;
  FairShares shares_;
  std::vector<std::unique_ptr<Job>> jobs_;  // each waits or lives
  std::vector<Job*> waiting_, live_;        // live in order of admission
  std::vector<SeqId> free_slots_;
  std::vector<Job*> prompts_;  // scratch of schedule()
  std::vector<Slice> slices_;
  std::int64_t step_ = 0;
};

}  // namespace wick
