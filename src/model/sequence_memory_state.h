// The state of a SequenceMemory, for its own files only. Bookkeeping is on the host; keys, values,
// states and block tables are on the device and accessed through buffers.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/memory_shape.h"
#include "model/paged_group.h"
#include "model/sequence_memory.h"
#include "model/slot_map.h"

namespace wick {

// Block tables for kernels: [max_seqs, stride] ids, the same on each device.
struct DeviceTable {
  std::vector<std::unique_ptr<Buffer>> on = {};
  int stride = 0;

  void set(SeqId seq, int index, std::int32_t id) noexcept;
};

struct KvSlab {  // keys and values of one layer: all keys, then all values
  int layer = 0;
  std::unique_ptr<Buffer> memory = {};
  std::size_t k_bytes = 0, v_bytes = 0;  // of a block, all heads
  std::size_t values_at = 0;

  std::size_t block_bytes() const noexcept { return k_bytes + v_bytes; }

  void copy(std::int32_t from, std::int32_t to) noexcept;  // all positions
  void zero(std::int32_t block) noexcept;
  void append_to(std::vector<std::byte>& out, std::int32_t block) const;
  void write(std::int32_t block, std::span<const std::byte> bytes) noexcept;
};

struct WindowGroup {  // the layers of one window
  int window = 0;
  SlotMap slots;  // blocks that still have their part
  DeviceTable table;
  std::vector<KvSlab> slabs;
  std::vector<int> first, end;  // by sequence: the blocks it uses

  // The first block that a query at `pos` reads.
  int first_block(Pos pos) const noexcept { return std::max(0, pos - window + 1) / kBlockTokens; }
};

struct StateSlab {  // one layer: states by sequence, then marked states, then snapshots
  std::unique_ptr<Buffer> memory = {};
  std::size_t bytes = 0;  // of one state

  void copy(int from, int to) noexcept;
  void zero(int index) noexcept;
};

struct StateGroup {
  SlotMap snapshots;
  std::vector<StateSlab> slabs;
  int max_seqs = 0;
  std::vector<Pos> at, marked;    // by sequence: the positions a state holds; marked -1 = none
  std::vector<int> last_passing;  // by sequence: the block of its last passing snapshot, -1 = none

  int mark_of(SeqId seq) const noexcept { return max_seqs + seq; }

  int place(int slot) const noexcept { return 2 * max_seqs + slot; }

  void copy(int from, int to) noexcept;
  void zero(int index) noexcept;
};

struct SequenceMemory::State {
  Placement placement;
  MemoryOptions options;
  PagedGroup pages;
  std::vector<std::size_t> bytes_on = {};  // by device
  DeviceTable table = {};
  std::vector<KvSlab> slabs = {};  // of layers that keep every position
  std::vector<WindowGroup> windows = {};
  std::optional<StateGroup> states = {};
  std::vector<LayerMemory> layers = {};

  const BlockPool& pool() const noexcept { return pages.pool(); }

  // Hot:
  void list(SeqId seq, int index) noexcept;  // enters block `index` of `seq` in the tables
  void renew(BlockId block, bool is_fresh) noexcept;
  void copy_positions(SeqId seq, int index, BlockId from, BlockId to, int n) noexcept;
  void forget(BlockId block) noexcept;
  int enter(WindowGroup& group, SeqId seq, int index) noexcept;
  void leave(WindowGroup& group, BlockId block) noexcept;
  void trim(WindowGroup& group, SeqId seq, int first) noexcept;
  void drop_behind(WindowGroup& group, SeqId seq, int end) noexcept;
  void replace(WindowGroup& group, SeqId seq, int index, BlockId old, BlockId block) noexcept;
  Pos restore_state(SeqId seq, Pos end) noexcept;
  void load_snapshot(SeqId seq, BlockId block, Pos at) noexcept;
};

}  // namespace wick
