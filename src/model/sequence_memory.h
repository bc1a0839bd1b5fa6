// The memory of sequences in all layers. Layers with the same kind of memory form a group: the
// paged KV cache of all positions, the KV cache of a sliding window, or recurrent states with
// snapshots. Sequences share common prefixes.
//
// The unit of sharing is the block: 16 positions of every layer, named by one BlockId. A block
// always holds the keys and values of the paged layers. It holds those of windowed layers while a
// sequence needs them or memory is left. It may have a snapshot of the state after its last
// position. A sequence can resume after a prefix if each group still has the memory that the next
// position reads.
//
// Address space is reserved at load; memory is committed block by block. Engine thread only; after
// create() nothing allocates.
//
//   WICK_TRY(SequenceMemory memory, SequenceMemory::create(*device, spec, {.context = 4096}));
//   memory.extend(0, n_tokens);          // reserves positions [0, n_tokens)
//   decoder.launch(batch, memory);       // computes them
//   memory.rollback(0, 7);               // goes on from position 7, or from an earlier one
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "base/types.h"
#include "model/placement.h"
#include "model/spec.h"

namespace wick {

struct MemoryOptions {
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  int max_seqs = 1;
  int context = 0;             // most positions of a sequence
  std::int64_t positions = 0;  // in all sequences together; 0 = max_seqs * context
  int max_batch_tokens = 512;  // of a forward pass
};

// Memory cost: bytes per position, and fixed bytes.
struct MemoryCost {
  std::size_t per_position = 0;
  std::size_t fixed = 0;
};

MemoryCost memory_cost(const DecoderSpec& spec, const MemoryOptions& options) noexcept;
MemoryCost memory_cost(const BlockSpec& block, const MemoryOptions& options) noexcept;
// Bytes of keys and values of one position over all layers.
std::size_t kv_bytes_per_position(const DecoderSpec& spec, KvType k_type, KvType v_type) noexcept;

// One layer's memory, for its mixer: the member that matches memory_shape().
struct LayerMemory {
  KvView kv = {};
  StateView state = {};
};

inline constexpr int kMaxWindows = 4;  // distinct sliding windows of a model

class SequenceMemory {
 public:
  // Each layer's memory is on its mixer's device; the devices must outlive it.
  static Result<SequenceMemory> create(const Placement& placement, const DecoderSpec& spec,
                                       const MemoryOptions& options);
  SequenceMemory(SequenceMemory&&) noexcept;
  SequenceMemory& operator=(SequenceMemory&&) noexcept;
  ~SequenceMemory();

  int context() const noexcept;
  int max_seqs() const noexcept;
  std::size_t bytes() const noexcept;               // of everything, once all of it is touched
  std::size_t content_bytes() const noexcept;       // without tables
  std::size_t bytes_in_use() const noexcept;        // of sequences and cached blocks now
  std::size_t bytes_on(int device) const noexcept;  // of everything, by index of the placement's

  const LayerMemory& layer(int layer) const noexcept;

  // ---- a sequence. Hot:

  // Reserves positions [0, n_tokens); false = full, nothing changed. Copy-on-write: a partial last
  // block that others share is copied when it grows.
  bool extend(SeqId seq, int n_tokens) noexcept;
  int blocks_needed(SeqId seq,
                    int n_tokens) const noexcept;  // free blocks that extend() would take
  // Positions [begin, begin + count) are computed by the next pass (Decoder::launch calls it).
  void begin(SeqId seq, Pos begin, int count) noexcept;
  // Positions below `end` are computed: frees blocks that left the windows.
  void advance(SeqId seq, Pos end) noexcept;
  // Marks the present end, so that a later rollback() can return to it.
  void mark(SeqId seq) noexcept;
  // Drops positions [end, ∞) and returns the position to resume from: `end`, or an earlier one if a
  // group cannot go back exactly there; the positions between must be computed again.
  Pos rollback(SeqId seq, Pos end) noexcept;
  void release(SeqId seq) noexcept;  // all of it
  std::span<const BlockId> blocks(SeqId seq) const noexcept;

  // ---- prefixes; engine/prefix_cache.h decides which blocks are kept. Hot:

  // A path of blocks from a text's start, to find where it can be resumed.
  struct Path {
    int n_blocks = 0;
    BlockId last = -1;
    // Blocks up to the last one the window group still has.
    std::array<int, kMaxWindows> in_window = {};
  };

  void append(Path& path, BlockId block) const noexcept;
  // Whether a sequence can resume after the path and `n_tail` positions of the block `tail`.
  bool can_resume(const Path& path, BlockId tail = -1, int n_tail = 0) const noexcept;
  // Whether prefixes may end inside a block; false with recurrent states, which have snapshots at
  // block ends only.
  bool can_cut_blocks() const noexcept;

  // Attaches these shared blocks, and n_tail positions of `tail`, to the empty `seq`. Requires
  // can_resume().
  void attach(SeqId seq, std::span<const BlockId> blocks, BlockId tail = -1,
              int n_tail = 0) noexcept;
  // Attaches the shared block `index`, the next one `seq` would compute; false if a group has
  // evicted its part.
  bool adopt(SeqId seq, int index, BlockId block) noexcept;
  // Replaces block `index` of `seq` by the shared `block` of the same content.
  void replace(SeqId seq, int index, BlockId block) noexcept;
  // Takes a snapshot of the state of `seq` at a block's end. A `passing` snapshot
  // replaces the last passing one and is taken at every 64th position only.
  void snapshot(SeqId seq, bool passing) noexcept;
  // The position in (begin, end] where a pass over [begin, end) of a prompt should end, so that the
  // last full block gets a snapshot.
  Pos stop_for_snapshot(Pos begin, Pos end) const noexcept;

  void pin(BlockId block) noexcept;  // keeps it without a sequence
  void unpin(BlockId block) noexcept;
  bool is_evictable(BlockId block) const noexcept;  // pinned, and no sequence uses it
  int evictable_blocks() const noexcept;
  int free_blocks() const noexcept;
  int total_blocks() const noexcept;

  // Zeroes unreferenced memory. (Blocks are also zeroed when reused, so a sequence never sees bytes
  // of another one.)
  void wipe_free() noexcept;

  // ---- export and import, between memories of the same model and types.

  // Bytes of an exported block; 0 = they vary.
  std::size_t fixed_block_bytes() const noexcept;
  std::size_t least_block_bytes() const noexcept;
  std::size_t most_exported_bytes(int n_blocks) const noexcept;  // for blocks with all groups
  void export_block(BlockId block, std::vector<std::byte>& out) const;
  // Length of the first block in these bytes; 0 = too short, or not written by export_block().
  std::size_t exported_bytes(std::span<const std::byte> bytes) const noexcept;
  // Whether this exported block contains only what storing finite numbers writes. This and
  // exported_bytes(): any thread.
  bool is_valid(std::span<const std::byte> bytes) const noexcept;
  void import_block(BlockId block, std::span<const std::byte> bytes) noexcept;  // exported_bytes()

  struct State;  // sequence_memory_state.h

 private:
  explicit SequenceMemory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
