// Keys and values of past positions, paged: 16 positions a block, a free list of blocks, one table
// of block ids for each sequence, reference counts so that sequences can share a prefix and that it
// can outlive them. Address space for all blocks is taken at load; memory is touched block by
// block. Engine thread only; after create() nothing allocates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "base/types.h"
#include "model/spec.h"

namespace wick {

struct KvOptions {
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  int max_seqs = 1;
  int context = 0;             // positions a sequence may have
  std::int64_t positions = 0;  // in all sequences together; 0 = max_seqs * context
};

// Bytes that one position costs in all layers together.
std::size_t kv_bytes_per_position(const DecoderSpec& spec, KvType k_type, KvType v_type) noexcept;

class KvCache {
 public:
  static Result<KvCache> create(Backend& backend, const DecoderSpec& spec,
                                const KvOptions& options);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  int context() const noexcept;
  int max_seqs() const noexcept;

  // Hot:
  bool reserve(
      SeqId seq,
      int n_tokens) noexcept;  // room for positions [0, n_tokens); false = full, nothing changed
  void truncate(SeqId seq,
                Pos end) noexcept;  // drop [end, ∞): whole blocks go back, a half-used one stays
  void release(SeqId seq) noexcept;
  int free_blocks() const noexcept;
  int total_blocks() const noexcept;

  // Blocks by name, for who shares them (engine/prefix_cache.h). A sequence never writes a block
  // that another holds too: what lies below its end stays, and a half-used last block is copied
  // when it grows.
  int blocks_needed(SeqId seq, int n_tokens) const noexcept;  // free ones that reserve() would take
  std::span<const std::int32_t> blocks(SeqId seq) const noexcept;
  void borrow(SeqId seq, std::int32_t block,
              int n) noexcept;  // `seq`, ending at a block's end, goes on with n positions of it
  void replace(SeqId seq, int index, std::int32_t block) noexcept;  // by one with the same content
  void keep(std::int32_t block) noexcept;  // stays, also when no sequence holds it any more
  void unkeep(std::int32_t block) noexcept;
  bool is_idle(std::int32_t block) const noexcept;  // kept, and no sequence holds it
  int idle_blocks() const noexcept;
  KvView view(int layer) const noexcept;

  // Zeroes every block that nobody holds. A block that is taken again begins as zeros anyway, so
  // that no sequence has bytes of another one behind its end.
  void wipe_free() noexcept;
  std::size_t bytes() const noexcept;  // of all blocks and tables

  // The content of a block, all layers one after the other, as it lies in memory: for a file that
  // only a cache of the same model and types may read.
  std::size_t block_bytes() const noexcept;
  void read_block(std::int32_t block, std::span<std::byte> out) const noexcept;
  void write_block(std::int32_t block, std::span<const std::byte> bytes) noexcept;

 private:
  struct State;
  explicit KvCache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
