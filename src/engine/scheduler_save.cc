// Cached prefixes out of a scheduler and into one. The bytes of a block are KvCache's.
#include <algorithm>

#include "engine/scheduler.h"

namespace wick {

int Scheduler::save(std::uint64_t tenant, std::span<const TokenId> tokens,
                    std::vector<std::byte>& out) const {
  const PrefixCache::Match match = prefixes_.find(tenant, tokens, static_cast<int>(tokens.size()));
  const auto append = [&](int node) {
    const std::size_t at = out.size();
    out.resize(at + kv_.block_bytes());
    kv_.read_block(prefixes_.block(node), std::span(out).subspan(at));
  };
  int node = -1;
  for (int done = 0; done < match.whole; done += kBlockTokens) {
    node =
        prefixes_.next(tenant, node, tokens.subspan(static_cast<std::size_t>(done), kBlockTokens));
    append(node);
  }
  if (match.extra > 0) append(match.tail);
  return match.tokens();
}

int Scheduler::restore(std::uint64_t tenant, std::span<const TokenId> tokens,
                       std::span<const std::byte> blocks) noexcept {
  if (!options_.reuses_prefixes || free_slots_.empty()) return 0;
  const SeqId slot = free_slots_.back();  // lent, to take blocks by
  const std::size_t block_bytes = kv_.block_bytes();
  int node = -1;
  std::size_t done = 0;
  for (; done < tokens.size(); blocks = blocks.subspan(block_bytes)) {
    const auto ids =
        tokens.subspan(done, std::min<std::size_t>(kBlockTokens, tokens.size() - done));
    const int known = ids.size() == kBlockTokens ? prefixes_.next(tenant, node, ids) : -1;
    if (known >= 0) {
      node = known;
    } else {
      // What was just put in must not make room for what follows.
      const bool is_full =
          kv_.free_blocks() == 0 && kv_.idle_blocks() <= static_cast<int>(done) / kBlockTokens;
      if (is_full || !make_room(1) || !kv_.reserve(slot, static_cast<int>(ids.size()))) {
        break;
      }
      const std::int32_t block = kv_.blocks(slot)[0];
      kv_.write_block(block, blocks.first(block_bytes));
      node = prefixes_.add(tenant, node, ids, block);
      kv_.release(slot);
    }
    prefixes_.touch(node);
    done += ids.size();
  }
  return static_cast<int>(done);
}

}  // namespace wick
