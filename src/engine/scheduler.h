// The scheduler of continuous batching: it decides which sequence computes which tokens next, in
// which cache blocks. Pure policy over token lists and block tables, without clock, thread or
// model, so that tests can simulate it. Scheduling changes when tokens are computed, never which.
//
// - An entry waits, then runs in a slot. Waiting entries are admitted by priority (which rises with
//   time), then by the client served least, then by age. The first that does not fit blocks those
//   after it, so no request starves.
// - An entry is admitted when blocks for all its tokens are free and each running entry could still
//   grow. Its cached prefix is shared, the rest is computed.
// - Decoding entries run in every step, one token each. The rest of the step's token budget goes to
//   prompts in chunks. A prompt whose next block another one computes in this step waits for it.
// - Beside the decoding of other clients a client's prompts get its share of the time, as much as
//   decoding costs each of those, after a burst that a common prompt fits into. A tenant is one
//   client, unless its requests name several.
// - If blocks run out while decoding, the newest entry of the lowest priority is preempted and
//   waits again. Its blocks stay in the prefix cache until they are evicted; it resumes with the
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
#include "engine/limits.h"
#include "engine/prefix_cache.h"
#include "model/sequence_memory.h"

namespace wick {

// What a request needs of its prompt. All but kLastLogits need every position computed, so they
// bypass prefix caching.
enum class PromptOutput : std::uint8_t {
  kLastLogits,   // the logits of the last position
  kLogprobs,     // those of every position
  kHiddenStates  // no logits; the hidden states of every position
};

struct Sequence;  // the caller's; the scheduler only keeps the pointer

struct SchedulerRequest {      // what the caller says about a request
  std::uint64_t id = 0;        // ascending in order of arrival
  std::uint64_t tenant = 0;    // tenants never share cache entries
  std::uint64_t client = 0;    // of one fair share; 0 = the tenant's
  std::uint64_t adapters = 0;  // key of its LoRA adapters; entries of others are never shared
  int priority = 0;            // -kMaxPriority (background) to kMaxPriority
  PromptOutput prompt_output = PromptOutput::kLastLogits;
  // Prompt and answer so far. The caller owns and appends to it, and keeps it until remove().
  const std::vector<TokenId>* tokens = nullptr;
  Sequence* owner = nullptr;  // to find it again; may be null

  PrefixOwner prefix_owner() const noexcept { return {tenant, adapters}; }

  std::uint64_t sharer() const noexcept { return client != 0 ? client : tenant; }
};

struct SchedulerEntry : SchedulerRequest {  // the scheduler's state of it, until remove()
  bool is_paused = false;  // set by the caller: its reader is behind, compute nothing
  bool is_failed = false;  // set by the caller: do not cache its last pass
  int n_draft = 0;         // set by the caller before each schedule(): draft tokens

  // Written by the scheduler, read by others.
  SeqId slot = -1;      // -1 = waits
  int done = 0;         // tokens in the cache, always fewer than there are
  int cached = -1;      // tokens found in the prefix cache at the first admission
  CacheMiss miss = {};  // why no more
  int n_preempted = 0;
  std::int64_t came_step = 0;

  // Used by the scheduler only.
  FairShare* share = nullptr;
  int node = -1;     // prefix cache node of the last published block
  int n_shared = 0;  // published blocks, from the start
  int paused_steps = 0;

  int known() const noexcept { return static_cast<int>(tokens->size()); }

  int missing() const noexcept { return known() - done; }

  bool is_decoding() const noexcept { return missing() == 1; }
};

struct Slice {  // compute positions [begin, begin + count) of `entry`
  SchedulerEntry* entry = nullptr;
  int begin = 0, count = 0;
  bool is_last = false;  // the slice reaches the last known token
  int n_draft = 0;       // its last n_draft tokens are draft tokens
  int n_rows = 0;        // its last n_rows positions have logits
};

struct StepBudget {     // prompt tokens of one step
  int shared = 64;      // with other sequences
  int exclusive = 512;  // of one sequence, if it has the step to itself
  int decode = 64;      // that take as long as the decoding of a step
};

struct SchedulerOptions {
  int max_seqs = 4;
  int max_batch_tokens = 512;        // at least max_seqs
  int max_rows = 4;                  // of logits in a step; at least max_seqs
  bool takes_whole_prompts = false;  // encoders: a prompt is one slice
  bool enable_prefix_caching = true;
  bool explain_other_tenants = false;
};

class Scheduler {
 public:
  // `memory` has max_seqs sequences, and blocks for at least one whole context plus one.
  Scheduler(SequenceMemory& memory, const SchedulerOptions& options);

  SchedulerEntry& add(
      const SchedulerRequest& terms);  // the entry waits; the reference is valid until remove()
  // Waiting or running; its blocks stay in the prefix cache, unless its last pass failed.
  void remove(SchedulerEntry& entry) noexcept;
  void admit() noexcept;
  bool has_ready() const noexcept;  // an entry waits that is not paused

  // Hot: The next step's slices, with their cache blocks reserved; at most max_batch_tokens tokens.
  std::span<const Slice> schedule(const StepBudget& budget) noexcept;
  // A slice of the last schedule() was computed. Call before appending to the entry's tokens.
  void computed(const Slice& slice) noexcept;
  // For a slice with draft tokens, after computed(): the first `n_accepted` were accepted and
  // appended to the entry's tokens; the others are rolled back.
  void verified(const Slice& slice, int n_accepted) noexcept;
  void publish() noexcept;  // adds computed full blocks to the prefix cache

  std::span<SchedulerEntry* const> live() const noexcept { return live_; }

  std::span<SchedulerEntry* const> waiting() const noexcept { return waiting_; }

  // The cached part of a prompt.
  PrefixCache::Match find(const SchedulerRequest& terms) const noexcept;

  std::int64_t step() const noexcept { return step_; }

  // Cold: between two steps: exports the cached prefix of `tokens` as bytes, one block per 16
  // tokens (the last may be partial), and imports it as if it had been computed. Both return the
  // number of tokens; restore() stops when no block can be evicted.
  int save(PrefixOwner owner, std::span<const TokenId> tokens, std::vector<std::byte>& out) const;
  int restore(PrefixOwner owner, std::span<const TokenId> tokens,
              std::span<const std::byte> blocks) noexcept;

  // Drops the cached prefixes of a tenant that has no entries left; `wipe` also zeroes the blocks.
  // Returns the number of blocks.
  int close_tenant(std::uint64_t tenant, bool wipe) noexcept;

  std::size_t bytes() const noexcept { return prefixes_.bytes(); }

 private:
  int level(const SchedulerEntry& entry) const noexcept;
  bool runs_before(const SchedulerEntry& a, const SchedulerEntry& b) const noexcept;
  bool is_preempted_before(const SchedulerEntry& a, const SchedulerEntry& b) const noexcept;
  bool place(SchedulerEntry& entry) noexcept;
  bool preempt_one() noexcept;
  void release_slot(SchedulerEntry& entry) noexcept;
  void preempt(SchedulerEntry& entry) noexcept;
  bool make_room(int n_blocks) noexcept;
  void reserve_decode() noexcept;
  void add_drafts() noexcept;
  void extend(SchedulerEntry& entry) noexcept;
  void schedule_prompts(const StepBudget& budget, int n_decoding) noexcept;
  void schedule_whole(int room) noexcept;
  bool is_beside_others(const SchedulerEntry& entry) const noexcept;
  int most_beside_others(const SchedulerEntry& entry, int count) const noexcept;
  bool is_decoding(const SchedulerEntry& entry) const noexcept;
  bool is_computed_by_other(const SchedulerEntry& entry) const noexcept;
  void add_slice(SchedulerEntry& entry, int count) noexcept;
  int free_rows() const noexcept;

  std::span<const TokenId> block_ids(const SchedulerEntry& entry, int index) const noexcept;

  SequenceMemory& memory_;
  SchedulerOptions options_;
  PrefixCache prefixes_;
  FairShares shares_;
  std::vector<std::unique_ptr<SchedulerEntry>> entries_;  // waiting or running
  std::vector<SchedulerEntry*> waiting_, live_;           // live_: in order of admission
  std::vector<SeqId> free_slots_;
  std::vector<SchedulerEntry*> prompts_;  // scratch of schedule()
  std::vector<Slice> slices_;
  std::int64_t step_ = 0;
  int n_decoding_clients_ = 0;  // in this step
  int client_chunk_ = kClientChunk;
};

}  // namespace wick
