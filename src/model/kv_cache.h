// Keys and values of past positions, paged: 16 positions a block, a free list of blocks, one table
// of block ids for each sequence, reference counts so that sequences can share a prefix. Address
// space for all blocks is taken at load; memory is touched block by block. Engine thread only;
// after create() nothing allocates.
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
  void share_prefix(SeqId from, SeqId to,
                    Pos end) noexcept;  // `to` (empty) borrows the whole blocks below `end`
  void release(SeqId seq) noexcept;
  int free_blocks() const noexcept;
  int total_blocks() const noexcept;
  KvView view(int layer) const noexcept;

 private:
  struct State;
  explicit KvCache(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
