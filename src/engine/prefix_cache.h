// The prefix cache: a radix tree whose edges are blocks of 16 token ids. A path from the root is a
// text; its nodes own the blocks of its sequence memory, so a sequence can resume after any of
// them. The last block of a text may be partial; such a node is a leaf. Each tenant has its own
// root for each set of LoRA adapters, so tenants share no entries and cannot learn each other's
// prompts from timing. Engine thread only; allocates at construction only.
//
//   const PrefixCache::Match m = cache.find(owner, prompt, limit);
//   cache.attach(m, seq);                       // `seq` now begins with m.tokens() positions
//   node = cache.add(owner, node, ids, block); // a block that was computed
//
// Invariant: each node pins its block (SequenceMemory::pin), each block has at most one node. In
// the LRU list a node is newer than all nodes below it, so the oldest is a leaf.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "model/sequence_memory.h"
#include "wick/estimate.h"

namespace wick {

// Whose entries, and computed how: entries of other tenants or other LoRA adapters are never
// shared.
struct PrefixOwner {
  PrefixOwner(std::uint64_t tenant_number, std::uint64_t adapters_key = 0) noexcept  // implicit
      : tenant(tenant_number), adapters(adapters_key) {}

  std::uint64_t tenant, adapters;  // adapters: key_of() their uses, 0 = none
};

class PrefixCache {
 public:
  PrefixCache(SequenceMemory& memory, bool explain_other_tenants);

  struct Match {
    int node = -1;  // of the last matching full block; -1 = none
    int whole = 0;  // positions in whole blocks
    int tail = -1;  // a node whose first `extra` positions match too
    int extra = 0;
    CacheMiss miss = {};

    int tokens() const noexcept { return whole + extra; }
  };

  // The longest cached prefix of tokens[0, limit) that every group of layers can resume.
  Match find(PrefixOwner owner, std::span<const TokenId> tokens, int limit) const noexcept;

  // Hot: `seq` must be empty; it gets the blocks that were found. Call directly after find().
  void attach(const Match& match, SeqId seq) noexcept;
  // The child of `node` (-1 = the owner's root) with these 16 ids; -1 = none.
  int next(PrefixOwner owner, int node, std::span<const TokenId> ids) const noexcept;
  // The same; adds a node for `block` if there is none. 1 to 16 ids; with fewer than 16 it is a
  // leaf.
  int add(PrefixOwner owner, int node, std::span<const TokenId> ids, BlockId block) noexcept;
  void touch(int node) noexcept;     // marks it and its ancestors as just used
  int evict(int n_blocks) noexcept;  // least recently used first; returns how many became free

  int drop(std::uint64_t tenant) noexcept;  // drops its trees; returns the number of blocks

  BlockId block(int node) const noexcept { return nodes_[index(node)].block; }

  std::size_t bytes() const noexcept;

  int n_blocks() const noexcept { return n_blocks_; }

 private:
  struct Node {
    std::array<TokenId, kBlockTokens> ids = {};
    int n_ids = 0;             // 0 = a root
    BlockId block = -1;        // -1 = a root
    std::uint64_t key = 0;     // of the text from the root to here, owner included
    std::uint64_t tenant = 0;  // of a root
    int parent = -1, first_child = -1, previous_sibling = -1, next_sibling = -1;
    int newer = -1, older = -1;  // by age; roots are not listed
    int next_in_bucket = -1;     // roots and whole blocks are found by key
  };

  static std::size_t index(int node) noexcept { return static_cast<std::size_t>(node); }

  Node& at(int node) noexcept { return nodes_[index(node)]; }

  const Node& at(int node) const noexcept { return nodes_[index(node)]; }

  int& bucket(std::uint64_t key) noexcept { return buckets_[key & (buckets_.size() - 1)]; }

  std::uint64_t root_key(PrefixOwner owner) const noexcept;
  int root(PrefixOwner owner) const noexcept;
  int make_root(PrefixOwner owner) noexcept;
  int child(int parent, std::span<const TokenId> ids) const noexcept;
  int take_node(int parent, std::uint64_t key) noexcept;
  void remove(int node) noexcept;
  void link_bucket(int node) noexcept;
  void unlink_bucket(int node) noexcept;
  void link_age(int node, int newer) noexcept;
  void unlink_age(int node) noexcept;
  int find_saying(int parent, std::span<const TokenId> ids) const noexcept;
  void drop_parts_of(int node) noexcept;
  void find_tail(int parent, std::span<const TokenId> rest, Match& match) const noexcept;
  CacheMiss explain(std::uint64_t parent_key, int parent, std::span<const TokenId> tokens,
                    const Match& match) const noexcept;
  bool another_tenant_has(std::uint64_t tenant, std::span<const TokenId> tokens) const noexcept;

  SequenceMemory& memory_;
  bool explains_tenants_;
  std::uint64_t salt_;
  std::vector<Node> nodes_;
  std::vector<int> buckets_;  // heads of lists linked by next_in_bucket
  std::vector<std::uint64_t>
      evicted_;                // hash table of the keys of evicted blocks; later ones overwrite
  std::vector<BlockId> path_;  // scratch of attach()
  int free_node_ = -1;         // linked by `parent`
  int first_root_ = -1;        // roots are siblings of each other
  int newest_ = -1, oldest_ = -1;
  int n_blocks_ = 0;
};

}  // namespace wick
