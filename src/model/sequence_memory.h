// What the layers keep of sequences, in groups that behave alike: keys and values of all positions
// (paged); of the last positions only (windowed); a state of fixed size (recurrent), of which
// snapshots are taken. Sequences share what they have in common.
//
// The unit of sharing is the block: 16 positions of every layer, named by one BlockId. A block
// holds the keys and values of the paged layers, those of windowed layers for as long as a sequence
// needs them or room is left, and perhaps a snapshot of the state behind its last position. A
// prefix can be resumed where each group has what the next position looks at.
//
// All address space is taken at load; memory is touched block by block. Engine thread only; after
// create() nothing allocates.
//
//   WICK_TRY(SequenceMemory memory, SequenceMemory::create(*device, spec, {.context = 4096}));
//   memory.extend(0, n_tokens);          // room for positions [0, n_tokens)
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
  int context = 0;             // positions a sequence may have
  std::int64_t positions = 0;  // in all sequences together; 0 = max_seqs * context
  int max_batch_tokens = 512;  // of a forward pass
};

// What sequences cost: bytes for each position that is kept, and bytes that do not grow with them.
struct MemoryCost {
  std::size_t per_position = 0;
  std::size_t fixed = 0;
};

MemoryCost memory_cost(const DecoderSpec& spec, const MemoryOptions& options) noexcept;
MemoryCost memory_cost(const BlockSpec& block, const MemoryOptions& options) noexcept;
// Keys and values of one position in all layers together.
std::size_t kv_bytes_per_position(const DecoderSpec& spec, KvType k_type, KvType v_type) noexcept;

// One layer's share, for its mixer: the member that memory_shape() names.
struct LayerMemory {
  KvView kv = {};
  StateView state = {};
};

inline constexpr int kMaxWindows = 4;  // different windows of one model that give blocks back

class SequenceMemory {
 public:
  // Each layer's share lies where its mixer is placed; the devices outlive it.
  static Result<SequenceMemory> create(const Placement& placement, const DecoderSpec& spec,
                                       const MemoryOptions& options);
  SequenceMemory(SequenceMemory&&) noexcept;
  SequenceMemory& operator=(SequenceMemory&&) noexcept;
  ~SequenceMemory();

  int context() const noexcept;
  int max_seqs() const noexcept;
  std::size_t bytes() const noexcept;          // of everything, once all of it is used
  std::size_t content_bytes() const noexcept;  // … without the tables
  std::size_t bytes_in_use() const noexcept;   // of what sequences and kept blocks hold now
  std::size_t bytes_on(int device) const noexcept;  // of everything, by index of the placement's

  const LayerMemory& layer(int layer) const noexcept;

  // ---- a sequence. Hot:

  // Room for positions [0, n_tokens); false = full, nothing changed. A sequence never writes a
  // block that another holds too: a half-used last block is copied when it grows.
  bool extend(SeqId seq, int n_tokens) noexcept;
  int blocks_needed(SeqId seq, int n_tokens) const noexcept;  // free ones that extend() would take
  // Positions [begin, begin + count) are computed by the next pass (Decoder::launch calls it).
  void begin(SeqId seq, Pos begin, int count) noexcept;
  // Positions below `end` are computed: gives back what lies behind the windows.
  void advance(SeqId seq, Pos end) noexcept;
  // A later rollback() may want to come back to where the sequence stands now.
  void mark(SeqId seq) noexcept;
  // Drops positions [end, ∞) and returns the position from which the sequence goes on: `end`, or an
  // earlier one where a group cannot go back that far; the positions between are computed again.
  Pos rollback(SeqId seq, Pos end) noexcept;
  void release(SeqId seq) noexcept;  // all of it
  std::span<const BlockId> blocks(SeqId seq) const noexcept;

  // ---- prefixes: who keeps which blocks is decided above (engine/prefix_cache.h). Hot:

  // A walk along blocks from a text's start on, to find where it can be resumed.
  struct Path {
    int n_blocks = 0;
    BlockId last = -1;
    std::array<int, kMaxWindows> in_window = {};  // blocks up to the last that the window still has
  };

  void append(Path& path, BlockId block) const noexcept;
  // Whether a sequence can go on behind the path and `n_tail` positions of the block `tail`.
  bool can_resume(const Path& path, BlockId tail = -1, int n_tail = 0) const noexcept;
  // Whether prefixes may end inside a block; a state is known where its snapshots are only.
  bool can_cut_blocks() const noexcept;

  // `seq`, which is empty, begins with these blocks, which others hold too, and n_tail positions of
  // `tail`. can_resume() said yes.
  void attach(SeqId seq, std::span<const BlockId> blocks, BlockId tail = -1,
              int n_tail = 0) noexcept;
  // Block `index`, the next one that `seq` would compute, was computed by another: takes it over;
  // false if a group of it is gone.
  bool adopt(SeqId seq, int index, BlockId block) noexcept;
  // Block `index` of `seq` is given back for `block`, which another holds and which has the same
  // content.
  void replace(SeqId seq, int index, BlockId block) noexcept;
  // The state of `seq`, which stands at a block's end, is kept with that block. A `passing` one is
  // taken less often, and its predecessor goes.
  void snapshot(SeqId seq, bool passing) noexcept;
  // Where a pass over positions [begin, end) of a prompt should stop, so that the last block's end
  // can be resumed.
  Pos stop_for_snapshot(Pos begin, Pos end) const noexcept;

  void pin(BlockId block) noexcept;  // stays, also when no sequence holds it any more
  void unpin(BlockId block) noexcept;
  bool is_evictable(BlockId block) const noexcept;  // kept, and no sequence holds it
  int evictable_blocks() const noexcept;
  int free_blocks() const noexcept;
  int total_blocks() const noexcept;

  // Zeroes what nobody holds. Memory that is taken again begins as zeros anyway, so that no
  // sequence has bytes of another one behind its end.
  void wipe_free() noexcept;

  // ---- to a file and back, for a memory of the same model and types.

  // Bytes of a block in a file; 0 = they differ from block to block.
  std::size_t fixed_block_bytes() const noexcept;
  std::size_t least_block_bytes() const noexcept;
  std::size_t most_exported_bytes(int n_blocks) const noexcept;  // of different blocks together
  void export_block(BlockId block, std::vector<std::byte>& out) const;
  // How many bytes of these are their first block; 0 = too few, or not what export_block() writes.
  std::size_t exported_bytes(std::span<const std::byte> bytes) const noexcept;
  // Whether this block (exported_bytes() of it) holds only what a store of finite numbers writes.
  // It and exported_bytes(): any thread.
  bool is_valid(std::span<const std::byte> bytes) const noexcept;
  void import_block(BlockId block, std::span<const std::byte> bytes) noexcept;  // exported_bytes()

  struct State;  // sequence_memory_state.h

 private:
  explicit SequenceMemory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
