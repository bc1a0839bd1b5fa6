// Saves and restores cached prefixes; SequenceMemory defines the bytes of a block.
#include <algorithm>

#include "engine/scheduler.h"

namespace wick {

int Scheduler::save(PrefixOwner owner, std::span<const TokenId> tokens,
                    std::vector<std::byte>& out) const {
  const PrefixCache::Match match = prefixes_.find(owner, tokens, static_cast<int>(tokens.size()));
  const auto append = [&](int node) { memory_.export_block(prefixes_.block(node), out); };
  int node = -1;
  for (int done = 0; done < match.whole; done += kBlockTokens) {
    node =
        prefixes_.next(owner, node, tokens.subspan(static_cast<std::size_t>(done), kBlockTokens));
    append(node);
  }
  if (match.extra > 0) append(match.tail);
  return match.tokens();
}

int Scheduler::restore(PrefixOwner owner, std::span<const TokenId> tokens,
                       std::span<const std::byte> blocks) noexcept {
  if (!options_.enable_prefix_caching || free_slots_.empty()) return 0;
  const SeqId slot = free_slots_.back();  // borrowed, to take blocks with
  int node = -1;
  std::size_t done = 0;
  while (done < tokens.size()) {
    const auto ids =
        tokens.subspan(done, std::min<std::size_t>(kBlockTokens, tokens.size() - done));
    const std::size_t n_bytes = memory_.exported_bytes(blocks);
    if (n_bytes == 0) break;
    const int known = ids.size() == kBlockTokens ? prefixes_.next(owner, node, ids) : -1;
    if (known >= 0) {
      node = known;
    } else {
      // Blocks just restored must not be evicted for later ones.
      const bool is_full = memory_.free_blocks() == 0 &&
                           memory_.evictable_blocks() <= static_cast<int>(done) / kBlockTokens;
      if (is_full || !make_room(1) || !memory_.extend(slot, static_cast<int>(ids.size()))) break;
      const BlockId block = memory_.blocks(slot)[0];
      memory_.import_block(block, blocks.first(n_bytes));
      node = prefixes_.add(owner, node, ids, block);
      memory_.release(slot);
    }
    prefixes_.touch(node);
    blocks = blocks.subspan(n_bytes);
    done += ids.size();
  }
  return static_cast<int>(done);
}

}  // namespace wick
