// Operations of SequenceMemory. A block id is valid in all groups: paged layers index their slabs
// by it; windowed layers and snapshots have fewer slots than blocks, and a SlotMap maps blocks to
// slots.
#include "model/sequence_memory.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/sequence_memory_state.h"

namespace wick {

namespace {

constexpr int kPassingEvery = 64;  // positions between the snapshots of a sequence that decodes

std::size_t index(SeqId seq) noexcept {
  return static_cast<std::size_t>(seq);
}

}  // namespace

SequenceMemory::SequenceMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}

SequenceMemory::SequenceMemory(SequenceMemory&&) noexcept = default;
SequenceMemory& SequenceMemory::operator=(SequenceMemory&&) noexcept = default;
SequenceMemory::~SequenceMemory() = default;

int SequenceMemory::context() const noexcept {
  return state_->options.context;
}

int SequenceMemory::max_seqs() const noexcept {
  return state_->options.max_seqs;
}

const LayerMemory& SequenceMemory::layer(int layer) const noexcept {
  return state_->layers[static_cast<std::size_t>(layer)];
}

// ---- one block, in each group

void SequenceMemory::State::list(SeqId seq, int i) noexcept {
  table.set(seq, i, pages.blocks(seq)[static_cast<std::size_t>(i)]);
}

// A block is reused: zeroed, without slots of its former content.
void SequenceMemory::State::renew(BlockId block, bool is_fresh) noexcept {
  forget(block);
  if (is_fresh) return;
  for (KvSlab& slab : slabs)
    slab.zero(block);
}

void SequenceMemory::State::forget(BlockId block) noexcept {
  for (WindowGroup& group : windows)
    group.slots.forget(block);
  if (states) states->snapshots.forget(block);
}

void SequenceMemory::State::copy_positions(SeqId seq, int i, BlockId from, BlockId to,
                                           int n) noexcept {
  const auto copy = [&](const KvSlab& slab, std::int32_t a, std::int32_t b) {
    const auto device = static_cast<std::size_t>(placement.mixer(slab.layer));
    const KvView& kv = layers[static_cast<std::size_t>(slab.layer)].kv;
    placement.devices[device]->copy_positions(kv, a, b, n);
  };
  for (const KvSlab& slab : slabs)
    copy(slab, from, to);
  for (WindowGroup& group : windows) {
    if (i < group.first[index(seq)] || i >= group.end[index(seq)]) continue;
    const int old = group.slots.find(from);
    const int slot = enter(group, seq, i);
    for (const KvSlab& slab : group.slabs)
      copy(slab, old, slot);
    leave(group, from);
  }
}

// Gives block `i` of `seq` a slot, used by the sequence.
int SequenceMemory::State::enter(WindowGroup& group, SeqId seq, int i) noexcept {
  const BlockId block = pages.blocks(seq)[static_cast<std::size_t>(i)];
  const SlotMap::Taken taken = group.slots.take(block);
  WICK_CHECK(taken.slot >= 0, "a window has slots for every sequence");
  group.slots.use(block);
  if (taken.is_new) {
    for (KvSlab& slab : group.slabs)
      slab.zero(taken.slot);
  }
  group.table.set(seq, i, taken.slot);
  return taken.slot;
}

// Frees slots of unpinned blocks at once, others when their slot is needed.
void SequenceMemory::State::leave(WindowGroup& group, BlockId block) noexcept {
  group.slots.unuse(block);
  if (group.slots.users(block) == 0 && !pool().is_pinned(block)) group.slots.forget(block);
}

void SequenceMemory::State::trim(WindowGroup& group, SeqId seq, int first) noexcept {
  int& begin = group.first[index(seq)];
  for (; begin < std::min(first, group.end[index(seq)]); ++begin)
    leave(group, pages.blocks(seq)[static_cast<std::size_t>(begin)]);
}

void SequenceMemory::State::drop_behind(WindowGroup& group, SeqId seq, int last) noexcept {
  int& end = group.end[index(seq)];
  int& first = group.first[index(seq)];
  for (; end > std::max(last, first); --end)
    leave(group, pages.blocks(seq)[static_cast<std::size_t>(end - 1)]);
  if (end > last) first = end = last;  // nothing is left
}

void SequenceMemory::State::replace(WindowGroup& group, SeqId seq, int i, BlockId old,
                                    BlockId block) noexcept {
  if (i < group.first[index(seq)] || i >= group.end[index(seq)]) return;
  SlotMap& slots = group.slots;
  if (slots.find(block) < 0 && slots.users(old) == 1) {
    slots.move(old, block);  // with its users
    return;
  }
  const int from = slots.find(old);
  const SlotMap::Taken taken = slots.take(block);
  WICK_CHECK(taken.slot >= 0, "a window has slots for every sequence");
  slots.use(block);
  if (taken.is_new) {
    for (KvSlab& slab : group.slabs)
      slab.copy(from, taken.slot);
  }
  group.table.set(seq, i, taken.slot);
  leave(group, old);
}

void SequenceMemory::State::load_snapshot(SeqId seq, BlockId block, Pos at) noexcept {
  const SlotMap::Taken taken = states->snapshots.take(block);
  WICK_CHECK(!taken.is_new, "a snapshot that was found is there");
  states->copy(states->place(taken.slot), seq);
  states->at[index(seq)] = at;
}

// Restores the state after `end` positions or fewer; returns how many.
Pos SequenceMemory::State::restore_state(SeqId seq, Pos end) noexcept {
  Pos& at = states->at[index(seq)];
  if (at <= end) return at;
  if (const Pos marked = states->marked[index(seq)]; marked >= 0 && marked <= end) {
    states->copy(states->mark_of(seq), seq);
    return at = marked;
  }
  const auto blocks = pages.blocks(seq);
  for (int i = end / kBlockTokens; i > 0; --i) {
    const BlockId block = blocks[static_cast<std::size_t>(i - 1)];
    if (states->snapshots.find(block) < 0) continue;
    load_snapshot(seq, block, i * kBlockTokens);
    return at;
  }
  states->zero(seq);
  return at = 0;
}

// ---- a sequence

int SequenceMemory::blocks_needed(SeqId seq, int n_tokens) const noexcept {
  return state_->pages.blocks_needed(seq, n_tokens);
}

std::span<const BlockId> SequenceMemory::blocks(SeqId seq) const noexcept {
  return state_->pages.blocks(seq);
}

bool SequenceMemory::extend(SeqId seq, int n_tokens) noexcept {
  State& s = *state_;
  PagedGroup& pages = s.pages;
  if (n_tokens > context() || pages.blocks_needed(seq, n_tokens) > pages.pool().free()) {
    return false;
  }
  const BlockId fresh = pages.pool().first_unused();
  const int n_before = static_cast<int>(pages.blocks(seq).size());
  const int n_copied = pages.positions(seq) % kBlockTokens;
  const PagedGroup::Copy copy = pages.reserve(seq, n_tokens);
  if (copy.from >= 0) {
    s.forget(copy.to);
    s.copy_positions(seq, n_before - 1, copy.from, copy.to, n_copied);
    s.list(seq, n_before - 1);
  }
  const auto blocks = pages.blocks(seq);
  for (int i = n_before; i < static_cast<int>(blocks.size()); ++i) {
    const BlockId block = blocks[static_cast<std::size_t>(i)];
    s.renew(block, block >= fresh);
    s.list(seq, i);
  }
  return true;
}

void SequenceMemory::begin(SeqId seq, Pos begin, int count) noexcept {
  State& s = *state_;
  WICK_CHECK(begin + count <= s.pages.positions(seq), "positions are reserved before a pass");
  for (WindowGroup& group : s.windows) {
    const int first = group.first_block(begin);
    s.trim(group, seq, first);
    int& end = group.end[index(seq)];
    for (; end < blocks_for(begin + count); ++end)
      s.enter(group, seq, end);
  }
  if (!s.states) return;
  Pos& at = s.states->at[index(seq)];
  if (begin == 0) {
    s.states->zero(seq);
    at = 0;
  }
  WICK_CHECK(at == begin, "a state goes on from where it stands");
  at = begin + count;
}

void SequenceMemory::advance(SeqId seq, Pos end) noexcept {
  for (WindowGroup& group : state_->windows)
    state_->trim(group, seq, group.first_block(end));
}

void SequenceMemory::mark(SeqId seq) noexcept {
  if (!state_->states) return;
  StateGroup& states = *state_->states;
  states.copy(seq, states.mark_of(seq));
  states.marked[index(seq)] = states.at[index(seq)];
}

Pos SequenceMemory::rollback(SeqId seq, Pos end) noexcept {
  State& s = *state_;
  end = std::clamp(end, 0, s.pages.positions(seq));
  if (s.states) end = s.restore_state(seq, end);
  for (const WindowGroup& group : s.windows) {
    if (group.first_block(end) < group.first[index(seq)]) end = 0;
  }
  if (s.states && end == 0) end = s.restore_state(seq, 0);
  for (WindowGroup& group : s.windows)
    s.drop_behind(group, seq, blocks_for(end));
  if (s.states) {
    Pos& marked = s.states->marked[index(seq)];
    if (marked > end) marked = -1;
    int& passing = s.states->last_passing[index(seq)];
    if (passing >= blocks_for(end)) passing = -1;
  }
  s.pages.truncate(seq, end);
  return end;
}

void SequenceMemory::release(SeqId seq) noexcept {
  if (state_->states) state_->states->marked[index(seq)] = -1;
  rollback(seq, 0);
}

// ---- prefixes

void SequenceMemory::append(Path& path, BlockId block) const noexcept {
  ++path.n_blocks;
  path.last = block;
  for (std::size_t i = 0; i < state_->windows.size(); ++i) {
    int& run = path.in_window[i];
    run = state_->windows[i].slots.find(block) >= 0 ? run + 1 : 0;
  }
}

bool SequenceMemory::can_resume(const Path& path, BlockId tail, int n_tail) const noexcept {
  const State& s = *state_;
  const Pos at = path.n_blocks * kBlockTokens + n_tail;
  if (at == 0) return true;
  if (s.states && (n_tail > 0 || s.states->snapshots.find(path.last) < 0)) return false;
  for (std::size_t i = 0; i < s.windows.size(); ++i) {
    const WindowGroup& group = s.windows[i];
    if (path.n_blocks - group.first_block(at) > path.in_window[i]) return false;
    if (n_tail > 0 && group.slots.find(tail) < 0) return false;
  }
  return true;
}

bool SequenceMemory::can_cut_blocks() const noexcept {
  return !state_->states;
}

void SequenceMemory::attach(SeqId seq, std::span<const BlockId> blocks, BlockId tail,
                            int n_tail) noexcept {
  State& s = *state_;
  int n = 0;
  for (const BlockId block : blocks) {
    s.pages.attach(seq, block, kBlockTokens);
    s.list(seq, n++);
  }
  if (n_tail > 0) {
    s.pages.attach(seq, tail, n_tail);
    s.list(seq, n++);
  }
  const Pos at = s.pages.positions(seq);
  for (WindowGroup& group : s.windows) {
    int& end = group.end[index(seq)];
    group.first[index(seq)] = end = group.first_block(at);
    for (; end < n; ++end)
      s.enter(group, seq, end);
  }
  if (s.states && at > 0) s.load_snapshot(seq, blocks.back(), at);
}

bool SequenceMemory::adopt(SeqId seq, int i, BlockId block) noexcept {
  State& s = *state_;
  const auto is_there = [&](const WindowGroup& group) {
    return group.end[index(seq)] == i && group.slots.find(block) >= 0;
  };
  if (!std::all_of(s.windows.begin(), s.windows.end(), is_there)) return false;
  const Pos at = i * kBlockTokens;
  if (s.states) {
    if (at > 0 && s.states->at[index(seq)] != at) return false;
    if (s.states->snapshots.find(block) < 0) return false;
    s.load_snapshot(seq, block, at + kBlockTokens);
  }
  s.pages.replace(seq, i, block);
  s.list(seq, i);
  for (WindowGroup& group : s.windows) {
    s.enter(group, seq, i);
    ++group.end[index(seq)];
  }
  advance(seq, at + kBlockTokens);
  return true;
}

void SequenceMemory::replace(SeqId seq, int i, BlockId block) noexcept {
  State& s = *state_;
  const BlockId old = s.pages.blocks(seq)[static_cast<std::size_t>(i)];
  if (old == block) return;
  for (WindowGroup& group : s.windows)
    s.replace(group, seq, i, old, block);
  if (s.states) {
    SlotMap& snapshots = s.states->snapshots;
    if (snapshots.find(old) >= 0 && snapshots.find(block) < 0) snapshots.move(old, block);
  }
  s.pages.replace(seq, i, block);
  s.list(seq, i);
}

void SequenceMemory::snapshot(SeqId seq, bool passing) noexcept {
  if (!state_->states) return;
  StateGroup& states = *state_->states;
  const Pos at = states.at[index(seq)];
  if (at == 0 || at % kBlockTokens != 0 || (passing && at % kPassingEvery != 0)) return;
  const int last = at / kBlockTokens - 1;
  const auto blocks = state_->pages.blocks(seq);
  const SlotMap::Taken taken = states.snapshots.take(blocks[static_cast<std::size_t>(last)]);
  if (!taken.is_new) return;
  states.copy(seq, states.place(taken.slot));
  if (!passing) return;
  int& before = states.last_passing[index(seq)];
  if (before >= 0) states.snapshots.forget(blocks[static_cast<std::size_t>(before)]);
  before = last;
}

Pos SequenceMemory::stop_for_snapshot(Pos begin, Pos end) const noexcept {
  const Pos last = end / kBlockTokens * kBlockTokens;
  return state_->states && last > begin ? last : end;
}

void SequenceMemory::pin(BlockId block) noexcept {
  state_->pages.pool().pin(block);
}

void SequenceMemory::unpin(BlockId block) noexcept {
  state_->pages.pool().unpin(block);
  if (state_->pool().references(block) == 0) state_->forget(block);
}

bool SequenceMemory::is_evictable(BlockId block) const noexcept {
  const BlockPool& pool = state_->pool();
  return pool.is_pinned(block) && pool.references(block) == 1;
}

int SequenceMemory::evictable_blocks() const noexcept {
  return state_->pool().evictable();
}

int SequenceMemory::free_blocks() const noexcept {
  return state_->pool().free();
}

int SequenceMemory::total_blocks() const noexcept {
  return state_->pool().total();
}

}  // namespace wick
