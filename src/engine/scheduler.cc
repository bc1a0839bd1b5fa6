#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "engine/limits.h"

namespace wick {

Scheduler::Scheduler(SequenceMemory& memory, const SchedulerOptions& options)
    : memory_(memory), options_(options), prefixes_(memory, options.explain_other_tenants) {
  WICK_CHECK(options.max_seqs <= memory.max_seqs(), "the cache has a table for each slot");
  WICK_CHECK(options.max_seqs <= options.max_batch_tokens, "each slot can decode in one step");
  const auto n = static_cast<std::size_t>(options.max_seqs);
  live_.reserve(n);
  prompts_.reserve(n);
  slices_.reserve(n);
  for (SeqId slot = options.max_seqs; slot-- > 0;)
    free_slots_.push_back(slot);
}

// ---- waiting and living

// Every wait raises a job, up to the highest level, where who got least and then who came first go
// before; so each wait ends.
int Scheduler::level(const Job& job) const noexcept {
  const std::int64_t raised = job.priority + (step_ - job.came_step) / kAgeingSteps;
  return static_cast<int>(std::min<std::int64_t>(raised, kMaxPriority));
}

bool Scheduler::runs_before(const Job& a, const Job& b) const noexcept {
  if (const int x = level(a), y = level(b); x != y) return x > y;
  if (a.share->served != b.share->served) return a.share->served < b.share->served;
  return a.id < b.id;
}

Job& Scheduler::add(const JobTerms& terms) {
  // With room for all that live, so that a preemption does not allocate. What may throw comes
  // before what changes.
  const std::size_t most = waiting_.size() + 1 + static_cast<std::size_t>(options_.max_seqs);
  if (waiting_.capacity() < most) waiting_.reserve(2 * most);
  if (jobs_.size() == jobs_.capacity()) jobs_.reserve(2 * jobs_.size() + 8);
  auto job = std::make_unique<Job>(Job{terms});
  job->share = &shares_.join(terms.tenant);
  job->came_step = step_;
  waiting_.push_back(job.get());
  jobs_.push_back(std::move(job));
  return *jobs_.back();
}

void Scheduler::remove(Job& job) noexcept {
  if (job.slot >= 0) {
    release_slot(job);
    std::erase(live_, &job);
  } else {
    std::erase(waiting_, &job);
  }
  shares_.leave(job.tenant);
  std::erase_if(jobs_, [&job](const auto& entry) { return entry.get() == &job; });
}

void Scheduler::admit() noexcept {
  for (;;) {
    Job* best = nullptr;
    for (Job* job : waiting_) {
      if (!job->is_paused && (best == nullptr || runs_before(*job, *best))) best = job;
    }
    if (best == nullptr) return;
    if (free_slots_.empty() && !preempt_one()) return;
    if (!place(*best) && !preempt_one()) return;
  }
}

bool Scheduler::has_ready() const noexcept {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const Job* job) { return !job->is_paused; });
}

// A slot of a sequence that nobody reads, for those who wait.
bool Scheduler::preempt_one() noexcept {
  for (Job* job : live_) {
    if (job->paused_steps < kParkingSteps) continue;
    preempt(*job);
    std::erase(live_, job);
    return true;
  }
  return false;
}

PrefixCache::Match Scheduler::find(const JobTerms& terms) const noexcept {
  const std::vector<TokenId>& tokens = *terms.tokens;
  if (!options_.enable_prefix_caching || terms.wish != PromptOutput::kLastLogits) {
    return {.miss = {.reason = MissReason::kOff, .wanted = tokens[0]}};
  }
  // The last token is always computed, because its logits are wanted.
  return prefixes_.find(terms.tenant, tokens, static_cast<int>(tokens.size()) - 1);
}

// Gives `job` a slot and blocks for all it knows; false if there is no room, and nothing changed.
bool Scheduler::place(Job& job) noexcept {
  const SeqId slot = free_slots_.back();
  const int known = job.known();
  PrefixCache::Match match = find(job);
  prefixes_.attach(match, slot);
  int spare = memory_.free_blocks() + memory_.evictable_blocks();
  if (live_.empty() && memory_.blocks_needed(slot, known) > spare) {
    // Alone, all there is is its own but for the copy of a half-used block.
    memory_.release(slot);
    match.extra = 0;
    prefixes_.attach(match, slot);
    spare = memory_.free_blocks() + memory_.evictable_blocks();
  }
  const int growth = live_.empty() ? 0 : static_cast<int>(live_.size()) + 1;
  const int needed = memory_.blocks_needed(slot, known);
  if (needed + growth > spare) {
    memory_.release(slot);
    return false;
  }
  const bool is_placed = make_room(needed) && memory_.extend(slot, known);
  WICK_CHECK(is_placed, "idle blocks can be had");
  free_slots_.pop_back();
  job.slot = slot;
  job.done = match.tokens();
  job.node = match.node;
  job.n_shared = match.whole / kBlockTokens;
  job.paused_steps = 0;
  if (job.cached < 0) {
    job.cached = job.done;
    job.miss = match.miss;
  }
  std::erase(waiting_, &job);
  live_.push_back(&job);
  return true;
}

// What `job` computed goes to the prefix cache, its slot to the next.
void Scheduler::release_slot(Job& job) noexcept {
  if (options_.enable_prefix_caching) {
    const auto begin = static_cast<std::size_t>(job.n_shared) * kBlockTokens;
    const auto end = static_cast<std::size_t>(job.done);
    WICK_CHECK(job.is_failed || end < begin + kBlockTokens,
               "full blocks are published as they come");
    if (!job.is_failed && end > begin && memory_.can_cut_blocks() &&
        memory_.rollback(job.slot, job.done) == job.done) {
      const BlockId tail = memory_.blocks(job.slot).back();
      prefixes_.touch(prefixes_.add(job.tenant, job.node,
                                    std::span(*job.tokens).subspan(begin, end - begin), tail));
    } else {
      prefixes_.touch(job.node);
    }
  }
  memory_.release(job.slot);
  free_slots_.push_back(job.slot);  // cold: within the capacity of all slots
  job.slot = -1;
  job.node = -1;
  job.n_shared = 0;
}

// Hot: back to waiting. The caller takes it off `live_`.
void Scheduler::preempt(Job& job) noexcept {
  release_slot(job);
  job.done = 0;
  ++job.n_preempted;
  waiting_.push_back(&job);  // cold: within the capacity that add() reserves
}

int Scheduler::close_tenant(std::uint64_t tenant, bool wipe) noexcept {
  const int n_blocks = prefixes_.drop(tenant);
  // Blocks that it lost earlier are free too, or were zeroed when another tenant took them.
  if (wipe) memory_.wipe_free();
  return n_blocks;
}

bool Scheduler::make_room(int n_blocks) noexcept {
  const int lacking = n_blocks - memory_.free_blocks();
  return lacking <= 0 || prefixes_.evict(lacking) >= lacking;
}

// ---- a step

std::span<const Slice> Scheduler::schedule(const StepBudget& budget) noexcept {
  ++step_;
  slices_.clear();
  for (Job* job : live_)
    job->paused_steps = job->is_paused ? job->paused_steps + 1 : 0;
  reserve_decode();
  int n_decoding = 0;
  for (Job* job : live_) {
    if (job->is_paused || !job->is_decoding()) continue;
    add_slice(*job, 1);
    ++n_decoding;
  }
  add_drafts();
  schedule_prompts(budget, n_decoding);
  return slices_;
}

// Rows of logits that are left when each job has one.
int Scheduler::free_rows() const noexcept {
  int n = options_.max_rows - options_.max_seqs;
  for (const Slice& slice : slices_)
    n -= std::max(0, slice.n_rows - 1);
  return n;
}

// Guesses are computed with the token they follow, as far as there is room: nobody gives way.
void Scheduler::add_drafts() noexcept {
  int room = options_.max_batch_tokens - static_cast<int>(live_.size());
  for (Slice& slice : slices_) {
    Job& job = *slice.job;
    const int end = job.done + 1 + std::min({job.n_draft, room, free_rows()});
    if (end <= job.done + 1 || end > memory_.context()) continue;
    if (!make_room(memory_.blocks_needed(job.slot, end)) || !memory_.extend(job.slot, end))
      continue;
    slice.n_draft = end - job.done - 1;
    slice.count += slice.n_draft;
    slice.n_rows = slice.count;
    memory_.mark(job.slot);
    room -= slice.n_draft;
  }
}

// Blocks for all that each job knows: a prompt has them since its admission, a decoding job takes
// one for its next position. Who came last goes first if there are too few, sequences that nobody
// reads before all others.
void Scheduler::reserve_decode() noexcept {
  for (std::size_t i = 0; i < live_.size();) {
    Job* const job = live_[i];
    const int known = job->known();
    if (job->is_paused ||
        (make_room(memory_.blocks_needed(job->slot, known)) && memory_.extend(job->slot, known))) {
      ++i;
      continue;
    }
    const auto last = std::max_element(
        live_.begin(), live_.end(),
        [this](const Job* a, const Job* b) { return is_preempted_before(*b, *a); });
    if (last - live_.begin() < static_cast<std::ptrdiff_t>(i)) --i;
    preempt(**last);
    live_.erase(last);
  }
}

bool Scheduler::is_preempted_before(const Job& a, const Job& b) const noexcept {
  if (a.is_paused != b.is_paused) return a.is_paused;
  if (const int x = level(a), y = level(b); x != y) return x < y;
  return a.id > b.id;
}

void Scheduler::schedule_prompts(const StepBudget& budget, int n_decoding) noexcept {
  prompts_.clear();
  for (Job* job : live_) {
    if (job->is_paused || job->is_decoding()) continue;
    extend(*job);
    prompts_.push_back(job);  // cold: within the capacity of all slots
  }
  std::sort(prompts_.begin(), prompts_.end(),
            [this](const Job* a, const Job* b) { return runs_before(*a, *b); });
  int room = options_.max_batch_tokens;
  for (const Slice& slice : slices_)
    room -= slice.count;
  if (n_decoding == 0 && !prompts_.empty() && prompts_.front()->missing() >= budget.shared) {
    add_slice(*prompts_.front(), std::min({prompts_.front()->missing(), budget.exclusive, room}));
    return;
  }
  int left = std::min(budget.shared, room);
  for (Job* job : prompts_) {
    if (left <= 0) return;
    if (is_computed_by_other(*job)) continue;
    const int count = std::min(job->missing(), left);
    add_slice(*job, count);
    left -= count;
  }
}

void Scheduler::add_slice(Job& job, int count) noexcept {
  const int missing = job.missing();
  const bool is_scored = job.wish == PromptOutput::kLogprobs && missing > 1;
  if (is_scored) count = std::min(count, 1 + std::max(0, free_rows()));
  // Cut at a block's end: attention runs fastest on whole tiles, and others can have the block.
  const int rest = (job.done + count) % kBlockTokens;
  if (count < missing && count > rest) count -= rest;
  count = memory_.stop_for_snapshot(job.done, job.done + count) - job.done;
  job.share->served += count;
  int n_rows = count == missing ? 1 : 0;
  if (is_scored) n_rows = count;
  if (job.wish == PromptOutput::kHiddenStates) n_rows = 0;
  slices_.push_back({.job = &job,  // cold: within the capacity of all slots
                     .begin = job.done,
                     .count = count,
                     .is_last = count == missing,
                     .n_rows = n_rows});
}

std::span<const TokenId> Scheduler::block_ids(const Job& job, int block) const noexcept {
  return std::span(*job.tokens)
      .subspan(static_cast<std::size_t>(block) * kBlockTokens, kBlockTokens);
}

// Blocks that somebody else has published since `job` was admitted.
void Scheduler::extend(Job& job) noexcept {
  if (!options_.enable_prefix_caching || job.wish != PromptOutput::kLastLogits) return;
  while (job.done == job.n_shared * kBlockTokens && job.missing() > kBlockTokens) {
    const int node = prefixes_.next(job.tenant, job.node, block_ids(job, job.n_shared));
    if (node < 0) return;
    if (!memory_.adopt(job.slot, job.n_shared, prefixes_.block(node))) return;
    job.node = node;
    job.done += kBlockTokens;
    const bool is_all_cached = job.cached == job.n_shared++ * kBlockTokens;
    if (is_all_cached && job.n_preempted == 0) {
      job.cached = job.done;
      job.miss = {.reason = MissReason::kNew,
                  .position = job.done,
                  .wanted = (*job.tokens)[static_cast<std::size_t>(job.done)]};
    }
  }
}

// Whether a slice of this step computes the very block that `job` needs next.
bool Scheduler::is_computed_by_other(const Job& job) const noexcept {
  if (!options_.enable_prefix_caching || job.wish != PromptOutput::kLastLogits ||
      job.done != job.n_shared * kBlockTokens || job.missing() <= kBlockTokens) {
    return false;
  }
  const auto ids = block_ids(job, job.n_shared);
  return std::any_of(slices_.begin(), slices_.end(), [&](const Slice& slice) {
    const Job& other = *slice.job;
    if (other.tenant != job.tenant || other.node != job.node || other.n_shared != job.n_shared ||
        other.known() < (other.n_shared + 1) * kBlockTokens) {
      return false;
    }
    const auto theirs = block_ids(other, other.n_shared);
    return std::equal(ids.begin(), ids.end(), theirs.begin());
  });
}

void Scheduler::computed(const Slice& slice) noexcept {
  Job& job = *slice.job;
  job.done += slice.count - slice.n_draft;
  memory_.advance(job.slot, job.done);
}

void Scheduler::verified(const Slice& slice, int n_accepted) noexcept {
  Job& job = *slice.job;
  job.done = memory_.rollback(job.slot, job.done + n_accepted);
}

void Scheduler::publish() noexcept {
  if (!options_.enable_prefix_caching) return;
  for (Job* job : live_) {
    if (job->is_failed) continue;
    while (job->done >= (job->n_shared + 1) * kBlockTokens) {
      const BlockId own = memory_.blocks(job->slot)[static_cast<std::size_t>(job->n_shared)];
      const int node = prefixes_.add(job->tenant, job->node, block_ids(*job, job->n_shared), own);
      // Somebody was quicker with the same block: one copy is enough.
      if (prefixes_.block(node) != own)
        memory_.replace(job->slot, job->n_shared, prefixes_.block(node));
      job->node = node;
      ++job->n_shared;
    }
    if (job->done == job->n_shared * kBlockTokens) memory_.snapshot(job->slot, job->is_decoding());
  }
}

}  // namespace wick
