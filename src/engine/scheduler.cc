// Why no request waits forever. A waiting entry rises by one level per kAgeingSteps steps, up to
// the highest level; there the order is service of its client, then age, which no newcomer can pass
// for long. The first entry that does not fit stops admission, so smaller requests cannot starve
// it. Admitted entries end, because each decodes one token in every step and the newest of the
// lowest level is preempted if blocks run out: the oldest always advances.
#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

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

// ---- waiting and running

// Priority rises with waiting time up to the highest level, where the client served least and then
// the oldest goes first; so every wait ends.
int Scheduler::level(const SchedulerEntry& entry) const noexcept {
  const std::int64_t raised = entry.priority + (step_ - entry.came_step) / kAgeingSteps;
  return static_cast<int>(std::min<std::int64_t>(raised, kMaxPriority));
}

bool Scheduler::runs_before(const SchedulerEntry& a, const SchedulerEntry& b) const noexcept {
  if (const int x = level(a), y = level(b); x != y) return x > y;
  if (a.share->served != b.share->served) return a.share->served < b.share->served;
  return a.id < b.id;
}

SchedulerEntry& Scheduler::add(const SchedulerRequest& terms) {
  // Reserves for all running entries, so that preemption does not allocate. Everything that may
  // throw comes before the first change.
  const std::size_t most = waiting_.size() + 1 + static_cast<std::size_t>(options_.max_seqs);
  if (waiting_.capacity() < most) waiting_.reserve(2 * most);
  if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 8);
  auto entry = std::make_unique<SchedulerEntry>(SchedulerEntry{terms});
  entry->share = &shares_.join(terms.sharer());
  entry->came_step = step_;
  waiting_.push_back(entry.get());
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

void Scheduler::remove(SchedulerEntry& entry) noexcept {
  if (entry.slot >= 0) {
    release_slot(entry);
    std::erase(live_, &entry);
  } else {
    std::erase(waiting_, &entry);
  }
  shares_.leave(*entry.share);
  std::erase_if(entries_, [&entry](const auto& owned) { return owned.get() == &entry; });
}

void Scheduler::admit() noexcept {
  for (;;) {
    SchedulerEntry* best = nullptr;
    for (SchedulerEntry* entry : waiting_) {
      if (!entry->is_paused && (best == nullptr || runs_before(*entry, *best))) best = entry;
    }
    if (best == nullptr) return;
    if (free_slots_.empty() && !preempt_one()) return;
    if (!place(*best) && !preempt_one()) return;
  }
}

bool Scheduler::has_ready() const noexcept {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const SchedulerEntry* entry) { return !entry->is_paused; });
}

// Preempts a paused sequence for those who wait.
bool Scheduler::preempt_one() noexcept {
  for (SchedulerEntry* entry : live_) {
    if (entry->paused_steps < kParkingSteps) continue;
    preempt(*entry);
    std::erase(live_, entry);
    return true;
  }
  return false;
}

PrefixCache::Match Scheduler::find(const SchedulerRequest& terms) const noexcept {
  const std::vector<TokenId>& tokens = *terms.tokens;
  if (!options_.enable_prefix_caching || terms.prompt_output != PromptOutput::kLastLogits) {
    return {.miss = {.reason = MissReason::kOff, .wanted = tokens[0]}};
  }
  // The last token is always computed, because its logits are wanted.
  return prefixes_.find(terms.prefix_owner(), tokens, static_cast<int>(tokens.size()) - 1);
}

// Gives `entry` a slot and blocks for all its tokens; false if they do not fit, and nothing
// changed.
bool Scheduler::place(SchedulerEntry& entry) noexcept {
  const SeqId slot = free_slots_.back();
  const int known = entry.known();
  PrefixCache::Match match = find(entry);
  prefixes_.attach(match, slot);
  int spare = memory_.free_blocks() + memory_.evictable_blocks();
  if (live_.empty() && memory_.blocks_needed(slot, known) > spare) {
    // The only entry: all blocks are its own, except the copy of a partial block.
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
  entry.slot = slot;
  entry.done = match.tokens();
  entry.node = match.node;
  entry.n_shared = match.whole / kBlockTokens;
  entry.paused_steps = 0;
  if (entry.cached < 0) {
    entry.cached = entry.done;
    entry.miss = match.miss;
  }
  std::erase(waiting_, &entry);
  live_.push_back(&entry);
  return true;
}

// Publishes the blocks of `entry` and frees its slot.
void Scheduler::release_slot(SchedulerEntry& entry) noexcept {
  if (options_.enable_prefix_caching) {
    const auto begin = static_cast<std::size_t>(entry.n_shared) * kBlockTokens;
    const auto end = static_cast<std::size_t>(entry.done);
    WICK_CHECK(entry.is_failed || end < begin + kBlockTokens,
               "full blocks are published as they come");
    if (!entry.is_failed && end > begin && memory_.can_cut_blocks() &&
        memory_.rollback(entry.slot, entry.done) == entry.done) {
      const BlockId tail = memory_.blocks(entry.slot).back();
      prefixes_.touch(prefixes_.add(entry.prefix_owner(), entry.node,
                                    std::span(*entry.tokens).subspan(begin, end - begin), tail));
    } else {
      prefixes_.touch(entry.node);
    }
  }
  memory_.release(entry.slot);
  free_slots_.push_back(entry.slot);  // cold: within the capacity of all slots
  entry.slot = -1;
  entry.node = -1;
  entry.n_shared = 0;
}

// Hot: back to waiting. The caller takes it off `live_`.
void Scheduler::preempt(SchedulerEntry& entry) noexcept {
  release_slot(entry);
  entry.done = 0;
  ++entry.n_preempted;
  waiting_.push_back(&entry);  // cold: within the capacity that add() reserves
}

int Scheduler::close_tenant(std::uint64_t tenant, bool wipe) noexcept {
  const int n_blocks = prefixes_.drop(tenant);
  // Blocks evicted earlier are free too, or were zeroed when another tenant took them.
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
  for (SchedulerEntry* entry : live_)
    entry->paused_steps = entry->is_paused ? entry->paused_steps + 1 : 0;
  reserve_decode();
  int n_decoding = 0;
  n_decoding_clients_ = 0;
  for (SchedulerEntry* entry : live_) {
    if (entry->is_paused || !is_decoding(*entry)) continue;
    add_slice(*entry, 1);
    ++n_decoding;
    if (std::exchange(entry->share->decodes_at, step_) != step_) ++n_decoding_clients_;
  }
  client_chunk_ = std::max(kClientChunk, budget.decode);
  const double n_clients = std::max(1, n_decoding_clients_);
  shares_.pass(std::max(1.0, budget.decode / n_clients));
  add_drafts();
  schedule_prompts(budget, n_decoding);
  return slices_;
}

// Rows of logits left after one for each entry.
int Scheduler::free_rows() const noexcept {
  int n = options_.max_rows - options_.max_seqs;
  for (const Slice& slice : slices_)
    n -= std::max(0, slice.n_rows - 1);
  return n;
}

// Draft tokens are computed with the token they follow, within the budget; nothing is preempted for
// them.
void Scheduler::add_drafts() noexcept {
  int room = options_.max_batch_tokens - static_cast<int>(live_.size());
  for (Slice& slice : slices_) {
    SchedulerEntry& entry = *slice.entry;
    const int end = entry.done + 1 + std::min({entry.n_draft, room, free_rows()});
    if (end <= entry.done + 1 || end > memory_.context()) continue;
    if (!make_room(memory_.blocks_needed(entry.slot, end)) || !memory_.extend(entry.slot, end))
      continue;
    slice.n_draft = end - entry.done - 1;
    slice.count += slice.n_draft;
    slice.n_rows = slice.count;
    memory_.mark(entry.slot);
    room -= slice.n_draft;
  }
}

// Reserves blocks: a prompt has them since admission, a decoding entry may need one for its next
// position. If there are too few, the newest entry is preempted, paused ones before all others.
void Scheduler::reserve_decode() noexcept {
  for (std::size_t i = 0; i < live_.size();) {
    SchedulerEntry* const entry = live_[i];
    const int known = entry->known();
    if (entry->is_paused || (make_room(memory_.blocks_needed(entry->slot, known)) &&
                             memory_.extend(entry->slot, known))) {
      ++i;
      continue;
    }
    const auto last = std::max_element(live_.begin(), live_.end(),
                                       [this](const SchedulerEntry* a, const SchedulerEntry* b) {
                                         return is_preempted_before(*b, *a);
                                       });
    if (last - live_.begin() < static_cast<std::ptrdiff_t>(i)) --i;
    preempt(**last);
    live_.erase(last);
  }
}

bool Scheduler::is_preempted_before(const SchedulerEntry& a,
                                    const SchedulerEntry& b) const noexcept {
  if (a.is_paused != b.is_paused) return a.is_paused;
  if (const int x = level(a), y = level(b); x != y) return x < y;
  return a.id > b.id;
}

void Scheduler::schedule_prompts(const StepBudget& budget, int n_decoding) noexcept {
  prompts_.clear();
  for (SchedulerEntry* entry : live_) {
    if (entry->is_paused || is_decoding(*entry)) continue;
    extend(*entry);
    prompts_.push_back(entry);  // cold: within the capacity of all slots
  }
  std::sort(
      prompts_.begin(), prompts_.end(),
      [this](const SchedulerEntry* a, const SchedulerEntry* b) { return runs_before(*a, *b); });
  int room = options_.max_batch_tokens;
  for (const Slice& slice : slices_)
    room -= slice.count;
  if (options_.takes_whole_prompts) return schedule_whole(room);
  if (n_decoding == 0 && !prompts_.empty() && prompts_.front()->missing() >= budget.shared) {
    add_slice(*prompts_.front(), std::min({prompts_.front()->missing(), budget.exclusive, room}));
    return;
  }
  int left = std::min(budget.shared, room);
  for (SchedulerEntry* entry : prompts_) {
    if (left <= 0) return;
    if (is_computed_by_other(*entry)) continue;
    const int count = most_beside_others(*entry, std::min(entry->missing(), left));
    if (count == 0) continue;
    add_slice(*entry, count);
    left -= count;
    if (is_beside_others(*entry)) shares_.charge(*entry->share, slices_.back().count);
  }
}

bool Scheduler::is_beside_others(const SchedulerEntry& entry) const noexcept {
  return n_decoding_clients_ > (entry.share->decodes_at == step_ ? 1 : 0);
}

// How many of `count` prompt tokens `entry` may compute now. Beside the decoding of other clients
// it waits until it may compute a block.
int Scheduler::most_beside_others(const SchedulerEntry& entry, int count) const noexcept {
  if (!is_beside_others(entry)) return count;
  const double credit = kClientBurst * client_chunk_ - shares_.debt(*entry.share);
  if (credit < std::min(count, kBlockTokens)) return 0;
  return std::min({count, client_chunk_, static_cast<int>(credit)});
}

// Prompts that fit, in their order; the first that does not fit has the next step for itself.
void Scheduler::schedule_whole(int room) noexcept {
  for (SchedulerEntry* entry : prompts_) {
    room -= entry->missing();
    if (room < 0) return;
    add_slice(*entry, entry->missing());
  }
}

bool Scheduler::is_decoding(const SchedulerEntry& entry) const noexcept {
  return entry.is_decoding() && !options_.takes_whole_prompts;
}

void Scheduler::add_slice(SchedulerEntry& entry, int count) noexcept {
  const int missing = entry.missing();
  const bool is_scored = entry.prompt_output == PromptOutput::kLogprobs && missing > 1;
  if (is_scored) count = std::min(count, 1 + std::max(0, free_rows()));
  // Ends at a block boundary: attention is fastest on whole tiles, and the block can be shared.
  const int rest = (entry.done + count) % kBlockTokens;
  if (count < missing && count > rest) count -= rest;
  count = memory_.stop_for_snapshot(entry.done, entry.done + count) - entry.done;
  entry.share->served += count;
  int n_rows = count == missing ? 1 : 0;
  if (is_scored) n_rows = count;
  if (entry.prompt_output == PromptOutput::kHiddenStates) n_rows = 0;
  slices_.push_back({.entry = &entry,  // cold: within the capacity of all slots
                     .begin = entry.done,
                     .count = count,
                     .is_last = count == missing,
                     .n_rows = n_rows});
}

std::span<const TokenId> Scheduler::block_ids(const SchedulerEntry& entry,
                                              int block) const noexcept {
  return std::span(*entry.tokens)
      .subspan(static_cast<std::size_t>(block) * kBlockTokens, kBlockTokens);
}

// Blocks that another entry has published since `entry` was admitted.
void Scheduler::extend(SchedulerEntry& entry) noexcept {
  if (!options_.enable_prefix_caching || entry.prompt_output != PromptOutput::kLastLogits) return;
  while (entry.done == entry.n_shared * kBlockTokens && entry.missing() > kBlockTokens) {
    const int node =
        prefixes_.next(entry.prefix_owner(), entry.node, block_ids(entry, entry.n_shared));
    if (node < 0) return;
    if (!memory_.adopt(entry.slot, entry.n_shared, prefixes_.block(node))) return;
    entry.node = node;
    entry.done += kBlockTokens;
    const bool is_all_cached = entry.cached == entry.n_shared++ * kBlockTokens;
    if (is_all_cached && entry.n_preempted == 0) {
      entry.cached = entry.done;
      entry.miss = {.reason = MissReason::kNew,
                    .position = entry.done,
                    .wanted = (*entry.tokens)[static_cast<std::size_t>(entry.done)]};
    }
  }
}

// Whether a slice of this step computes the very block that `entry` needs next.
bool Scheduler::is_computed_by_other(const SchedulerEntry& entry) const noexcept {
  if (!options_.enable_prefix_caching || entry.prompt_output != PromptOutput::kLastLogits ||
      entry.done != entry.n_shared * kBlockTokens || entry.missing() <= kBlockTokens) {
    return false;
  }
  const auto ids = block_ids(entry, entry.n_shared);
  return std::any_of(slices_.begin(), slices_.end(), [&](const Slice& slice) {
    const SchedulerEntry& other = *slice.entry;
    if (other.tenant != entry.tenant || other.adapters != entry.adapters ||
        other.node != entry.node || other.n_shared != entry.n_shared ||
        other.known() < (other.n_shared + 1) * kBlockTokens) {
      return false;
    }
    const auto theirs = block_ids(other, other.n_shared);
    return std::equal(ids.begin(), ids.end(), theirs.begin());
  });
}

void Scheduler::computed(const Slice& slice) noexcept {
  SchedulerEntry& entry = *slice.entry;
  entry.done += slice.count - slice.n_draft;
  memory_.advance(entry.slot, entry.done);
}

void Scheduler::verified(const Slice& slice, int n_accepted) noexcept {
  SchedulerEntry& entry = *slice.entry;
  entry.done = memory_.rollback(entry.slot, entry.done + n_accepted);
}

void Scheduler::publish() noexcept {
  if (!options_.enable_prefix_caching) return;
  for (SchedulerEntry* entry : live_) {
    if (entry->is_failed) continue;
    while (entry->done >= (entry->n_shared + 1) * kBlockTokens) {
      const BlockId own = memory_.blocks(entry->slot)[static_cast<std::size_t>(entry->n_shared)];
      const int node = prefixes_.add(entry->prefix_owner(), entry->node,
                                     block_ids(*entry, entry->n_shared), own);
      // Another entry has published the same block: one copy is enough.
      if (prefixes_.block(node) != own)
        memory_.replace(entry->slot, entry->n_shared, prefixes_.block(node));
      entry->node = node;
      ++entry->n_shared;
    }
    if (entry->done == entry->n_shared * kBlockTokens)
      memory_.snapshot(entry->slot, entry->is_decoding());
  }
}

}  // namespace wick
