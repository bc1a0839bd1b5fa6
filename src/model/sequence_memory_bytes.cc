// Bytes of a SequenceMemory: sizes, copies, export and import.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "model/sequence_memory_state.h"

namespace wick {

void DeviceTable::set(SeqId seq, int index, std::int32_t id) noexcept {
  const auto entry = static_cast<std::size_t>(seq) * static_cast<std::size_t>(stride) +
                     static_cast<std::size_t>(index);
  for (const auto& memory : on)
    memory->write(entry * sizeof(id), std::as_bytes(std::span(&id, 1)));
}

// ---- keys and values

void KvSlab::copy(std::int32_t from, std::int32_t to) noexcept {
  const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
  memory->copy(b * k_bytes, a * k_bytes, k_bytes);
  memory->copy(values_at + b * v_bytes, values_at + a * v_bytes, v_bytes);
}

void KvSlab::zero(std::int32_t block) noexcept {
  const auto at = static_cast<std::size_t>(block);
  memory->zero(at * k_bytes, k_bytes);
  memory->zero(values_at + at * v_bytes, v_bytes);
}

void KvSlab::append_to(std::vector<std::byte>& out, std::int32_t block) const {
  const auto at = static_cast<std::size_t>(block);
  const std::size_t begin = out.size();
  out.resize(begin + block_bytes());
  const auto place = std::span(out).subspan(begin);
  memory->read(at * k_bytes, place.first(k_bytes));
  memory->read(values_at + at * v_bytes, place.subspan(k_bytes));
}

void KvSlab::write(std::int32_t block, std::span<const std::byte> bytes) noexcept {
  const auto at = static_cast<std::size_t>(block);
  memory->write(at * k_bytes, bytes.first(k_bytes));
  memory->write(values_at + at * v_bytes, bytes.subspan(k_bytes, v_bytes));
}

// ---- states

void StateSlab::copy(int from, int to) noexcept {
  memory->copy(static_cast<std::size_t>(to) * bytes, static_cast<std::size_t>(from) * bytes, bytes);
}

void StateSlab::zero(int index) noexcept {
  memory->zero(static_cast<std::size_t>(index) * bytes, bytes);
}

void StateGroup::copy(int from, int to) noexcept {
  for (StateSlab& slab : slabs)
    slab.copy(from, to);
}

void StateGroup::zero(int index) noexcept {
  for (StateSlab& slab : slabs)
    slab.zero(index);
}

namespace {

std::size_t block_bytes(const std::vector<KvSlab>& slabs) noexcept {
  std::size_t bytes = 0;
  for (const KvSlab& slab : slabs)
    bytes += slab.block_bytes();
  return bytes;
}

std::size_t state_bytes(const StateGroup& states) noexcept {
  std::size_t bytes = 0;
  for (const StateSlab& slab : states.slabs)
    bytes += slab.bytes;
  return bytes;
}

// A block in a file: which groups it has beside the paged one, then the bytes of each in order.
constexpr std::uint8_t kHasState = 0x80;

std::uint8_t window_bit(std::size_t i) noexcept {
  return static_cast<std::uint8_t>(1U << i);
}

void write(std::vector<KvSlab>& slabs, std::int32_t to, std::span<const std::byte> bytes) noexcept {
  for (KvSlab& slab : slabs) {
    slab.write(to, bytes.first(slab.block_bytes()));
    bytes = bytes.subspan(slab.block_bytes());
  }
}

bool all_valid(const std::vector<KvSlab>& slabs, const MemoryOptions& options,
               std::span<const std::byte> bytes) noexcept {
  bool is_valid = true;
  for (const KvSlab& slab : slabs) {
    is_valid &= kv_is_valid(options.k_type, bytes.first(slab.k_bytes));
    is_valid &= kv_is_valid(options.v_type, bytes.subspan(slab.k_bytes, slab.v_bytes));
    bytes = bytes.subspan(slab.block_bytes());
  }
  return is_valid;
}

void write(StateGroup& states, int index, std::span<const std::byte> bytes) noexcept {
  for (StateSlab& slab : states.slabs) {
    slab.memory->write(static_cast<std::size_t>(index) * slab.bytes, bytes.first(slab.bytes));
    bytes = bytes.subspan(slab.bytes);
  }
}

}  // namespace

std::size_t SequenceMemory::bytes() const noexcept {
  const auto& all = state_->bytes_on;
  return std::accumulate(all.begin(), all.end(), std::size_t{0});
}

std::size_t SequenceMemory::bytes_on(int device) const noexcept {
  return state_->bytes_on[static_cast<std::size_t>(device)];
}

std::size_t SequenceMemory::content_bytes() const noexcept {
  const State& s = *state_;
  const auto times = [](int n, std::size_t bytes) { return static_cast<std::size_t>(n) * bytes; };
  std::size_t bytes = times(total_blocks(), block_bytes(s.slabs));
  for (const WindowGroup& group : s.windows)
    bytes += times(group.slots.total(), block_bytes(group.slabs));
  if (!s.states) return bytes;
  return bytes + times(2 * max_seqs() + s.states->snapshots.total(), state_bytes(*s.states));
}

std::size_t SequenceMemory::bytes_in_use() const noexcept {
  const State& s = *state_;
  const auto times = [](int n, std::size_t bytes) { return static_cast<std::size_t>(n) * bytes; };
  std::size_t bytes = times(total_blocks() - free_blocks(), block_bytes(s.slabs));
  for (const WindowGroup& group : s.windows)
    bytes += times(group.slots.filled(), block_bytes(group.slabs));
  if (!s.states) return bytes;
  int n = s.states->snapshots.filled();
  for (SeqId seq = 0; seq < max_seqs(); ++seq)
    n += s.pages.positions(seq) > 0 ? 1 : 0;
  return bytes + times(n, state_bytes(*s.states));
}

void SequenceMemory::wipe_free() noexcept {
  State& s = *state_;
  const BlockPool& pool = s.pool();
  for (BlockId block = 0; block < pool.first_unused(); ++block) {
    if (pool.references(block) > 0) continue;
    s.forget(block);
    for (KvSlab& slab : s.slabs)
      slab.zero(block);
  }
  for (WindowGroup& group : s.windows) {
    for (int slot = 0; slot < group.slots.total(); ++slot) {
      if (group.slots.block(slot) >= 0) continue;
      for (KvSlab& slab : group.slabs)
        slab.zero(slot);
    }
  }
  if (!s.states) return;
  for (int slot = 0; slot < s.states->snapshots.total(); ++slot) {
    if (s.states->snapshots.block(slot) < 0) s.states->zero(s.states->place(slot));
  }
  for (SeqId seq = 0; seq < max_seqs(); ++seq) {
    if (s.pages.positions(seq) > 0) continue;
    s.states->zero(seq);
    s.states->zero(s.states->mark_of(seq));
  }
}

std::size_t SequenceMemory::fixed_block_bytes() const noexcept {
  return state_->windows.empty() && !state_->states ? block_bytes(state_->slabs) : 0;
}

std::size_t SequenceMemory::least_block_bytes() const noexcept {
  return block_bytes(state_->slabs) + (fixed_block_bytes() == 0 ? 1 : 0);
}

std::size_t SequenceMemory::most_exported_bytes(int n_blocks) const noexcept {
  const State& s = *state_;
  const auto times = [](int n, std::size_t bytes) { return static_cast<std::size_t>(n) * bytes; };
  std::size_t bytes = times(n_blocks, least_block_bytes());
  for (const WindowGroup& group : s.windows)
    bytes += times(std::min(n_blocks, group.slots.total()), block_bytes(group.slabs));
  if (!s.states) return bytes;
  return bytes + times(std::min(n_blocks, s.states->snapshots.total()), state_bytes(*s.states));
}

void SequenceMemory::export_block(BlockId block, std::vector<std::byte>& out) const {
  const State& s = *state_;
  const std::size_t head = out.size();
  std::uint8_t has = 0;
  if (fixed_block_bytes() == 0) out.push_back({});
  for (const KvSlab& slab : s.slabs)
    slab.append_to(out, block);
  for (std::size_t i = 0; i < s.windows.size(); ++i) {
    const int slot = s.windows[i].slots.find(block);
    if (slot < 0) continue;
    has |= window_bit(i);
    for (const KvSlab& slab : s.windows[i].slabs)
      slab.append_to(out, slot);
  }
  if (const int slot = s.states ? s.states->snapshots.find(block) : -1; slot >= 0) {
    has |= kHasState;
    for (const StateSlab& slab : s.states->slabs) {
      const std::size_t at = out.size();
      out.resize(at + slab.bytes);
      slab.memory->read(static_cast<std::size_t>(s.states->place(slot)) * slab.bytes,
                        std::span(out).subspan(at));
    }
  }
  if (fixed_block_bytes() == 0) out[head] = static_cast<std::byte>(has);
}

std::size_t SequenceMemory::exported_bytes(std::span<const std::byte> bytes) const noexcept {
  const State& s = *state_;
  std::size_t wanted = least_block_bytes();
  if (bytes.size() < wanted) return 0;
  if (fixed_block_bytes() > 0) return wanted;
  auto has = static_cast<std::uint8_t>(bytes[0]);
  for (std::size_t i = 0; i < s.windows.size(); ++i) {
    if ((has & window_bit(i)) != 0) wanted += block_bytes(s.windows[i].slabs);
    has = static_cast<std::uint8_t>(has & ~window_bit(i));
  }
  if (s.states && (has & kHasState) != 0) {
    wanted += state_bytes(*s.states);
    has = static_cast<std::uint8_t>(has & ~kHasState);
  }
  return has == 0 && wanted <= bytes.size() ? wanted : 0;
}

bool SequenceMemory::is_valid(std::span<const std::byte> bytes) const noexcept {
  const State& s = *state_;
  WICK_CHECK(exported_bytes(bytes) == bytes.size(), "the bytes of one block");
  const auto has = static_cast<std::uint8_t>(fixed_block_bytes() == 0 ? bytes[0] : std::byte{0});
  if (fixed_block_bytes() == 0) bytes = bytes.subspan(1);
  const auto take = [&](const std::vector<KvSlab>& slabs) {
    const auto piece = bytes.first(block_bytes(slabs));
    bytes = bytes.subspan(piece.size());
    return all_valid(slabs, s.options, piece);
  };
  bool is_valid = take(s.slabs);
  for (std::size_t i = 0; i < s.windows.size(); ++i) {
    if ((has & window_bit(i)) != 0) is_valid &= take(s.windows[i].slabs);
  }
  return is_valid && kv_is_valid(KvType::kF32, bytes);  // what is left is a state
}

void SequenceMemory::import_block(BlockId block, std::span<const std::byte> bytes) noexcept {
  State& s = *state_;
  WICK_CHECK(exported_bytes(bytes) == bytes.size(), "the bytes of one block");
  std::uint8_t has = 0;
  if (fixed_block_bytes() == 0) {
    has = static_cast<std::uint8_t>(bytes[0]);
    bytes = bytes.subspan(1);
  }
  const auto take = [&](std::size_t n) {
    const auto piece = bytes.first(n);
    bytes = bytes.subspan(n);
    return piece;
  };
  write(s.slabs, block, take(block_bytes(s.slabs)));
  for (std::size_t i = 0; i < s.windows.size(); ++i) {
    if ((has & window_bit(i)) == 0) continue;
    WindowGroup& group = s.windows[i];
    const auto piece = take(block_bytes(group.slabs));
    const SlotMap::Taken taken = group.slots.take(block);
    if (taken.slot >= 0) write(group.slabs, taken.slot, piece);
  }
  if ((has & kHasState) == 0) return;
  const SlotMap::Taken taken = s.states->snapshots.take(block);
  if (taken.slot >= 0) write(*s.states, s.states->place(taken.slot), bytes);
}

}  // namespace wick
