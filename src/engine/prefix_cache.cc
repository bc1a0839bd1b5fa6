// The tree in two arrays. A node is found by hash, not by a list of children: its key is a salted
// hash of all ids from the root, and its bucket holds the nodes of equal hash. The ids of the block
// and the parent are compared as well, so a collision costs time and never gives another prompt's
// block. Nodes come from a fixed array (one per block and one per tenant's root), so add() and
// remove() do not allocate.
//
// Why a prompt missed is answered after the fact: the keys of evicted nodes stay in a table, and a
// prefix whose key is there was evicted, not new.
#include "engine/prefix_cache.h"

#include <algorithm>
#include <bit>
#include <random>

#include "base/check.h"
#include "engine/limits.h"

namespace wick {

namespace {

// Finalizer of MurmurHash3 (Austin Appleby): every bit of `x` reaches every bit of the result.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// A client cannot prepare texts whose keys collide: collisions would only cost time.
std::uint64_t make_salt() {
  std::random_device random;
  return mix(std::uint64_t{random()} << 32 | random());
}

std::uint64_t key_of(std::uint64_t parent_key, std::span<const TokenId> ids) noexcept {
  std::uint64_t key = parent_key;
  for (const TokenId id : ids)
    key = mix(key + static_cast<std::uint32_t>(id) + 1);
  return key;
}

int common(std::span<const TokenId> a, std::span<const TokenId> b) noexcept {
  const auto n = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<int>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first - a.begin());
}

}  // namespace

PrefixCache::PrefixCache(SequenceMemory& memory, bool explain_other_tenants)
    : memory_(memory), explains_tenants_(explain_other_tenants), salt_(make_salt()) {
  // Each block has one node, each root at least one child.
  const auto n = 2 * static_cast<std::size_t>(memory.total_blocks());
  nodes_.resize(n);
  for (std::size_t i = n; i-- > 0;) {
    nodes_[i].parent = free_node_;
    free_node_ = static_cast<int>(i);
  }
  buckets_.assign(std::bit_ceil(n), -1);
  evicted_.assign(std::bit_ceil(n), 0);
  path_.resize(static_cast<std::size_t>(memory.total_blocks()));
}

std::uint64_t PrefixCache::root_key(PrefixOwner owner) const noexcept {
  const std::uint64_t key = mix(salt_ ^ owner.tenant);
  return owner.adapters == 0 ? key : mix(key ^ mix(owner.adapters));
}

int PrefixCache::root(PrefixOwner owner) const noexcept {
  const std::uint64_t key = root_key(owner);
  int node = buckets_[key & (buckets_.size() - 1)];
  while (node >= 0 && (at(node).key != key || at(node).n_ids != 0))
    node = at(node).next_in_bucket;
  return node;
}

int PrefixCache::child(int parent, std::span<const TokenId> ids) const noexcept {
  const std::uint64_t key = key_of(at(parent).key, ids);
  int node = buckets_[key & (buckets_.size() - 1)];
  for (; node >= 0; node = at(node).next_in_bucket) {
    const Node& n = at(node);
    if (n.key == key && n.parent == parent && std::equal(ids.begin(), ids.end(), n.ids.begin())) {
      break;
    }
  }
  return node;
}

int PrefixCache::next(PrefixOwner owner, int node, std::span<const TokenId> ids) const noexcept {
  const int parent = node >= 0 ? node : root(owner);
  return parent < 0 ? -1 : child(parent, ids);
}

PrefixCache::Match PrefixCache::find(PrefixOwner owner, std::span<const TokenId> tokens,
                                     int limit) const noexcept {
  Match match;
  const int own_root = root(owner);
  int node = own_root;
  SequenceMemory::Path path;
  // The last node that a sequence can resume; the search may go past it.
  int parent = own_root;
  std::uint64_t key = parent >= 0 ? at(parent).key : root_key(owner);
  SequenceMemory::Path resumed;
  for (int end = kBlockTokens; node >= 0 && end <= limit; end += kBlockTokens) {
    const auto begin = static_cast<std::size_t>(end - kBlockTokens);
    node = child(node, tokens.subspan(begin, kBlockTokens));
    if (node < 0) break;
    memory_.append(path, at(node).block);
    if (!memory_.can_resume(path)) continue;
    parent = match.node = node;
    key = at(node).key;
    match.whole = end;
    resumed = path;
  }
  const auto begin = static_cast<std::size_t>(match.whole);
  if (parent >= 0 && memory_.can_cut_blocks()) {
    find_tail(parent, tokens.subspan(begin, static_cast<std::size_t>(limit) - begin), match);
    if (match.extra > 0 && !memory_.can_resume(resumed, at(match.tail).block, match.extra)) {
      match.extra = 0;
      match.tail = -1;
    }
  }
  if (match.tokens() < limit) {
    match.miss = explain(key, parent, tokens, match);
    if (path.n_blocks > resumed.n_blocks) match.miss.reason = MissReason::kEvicted;
    if (explains_tenants_ && match.miss.reason != MissReason::kEvicted &&
        another_tenant_has(owner.tenant,
                           tokens.first(std::min(begin + kBlockTokens, tokens.size())))) {
      match.miss.reason = MissReason::kOtherTenant;
    }
  }
  return match;
}

// The child of `parent` that agrees longest with `rest`.
void PrefixCache::find_tail(int parent, std::span<const TokenId> rest,
                            Match& match) const noexcept {
  int left = kMaxSiblings;
  for (int node = at(parent).first_child; node >= 0 && left > 0 && !rest.empty(); --left) {
    const Node& n = at(node);
    const int same = common(std::span(n.ids).first(static_cast<std::size_t>(n.n_ids)), rest);
    if (same > match.extra) {
      match.extra = same;
      match.tail = node;
    }
    node = n.next_sibling;
  }
}

CacheMiss PrefixCache::explain(std::uint64_t parent_key, int parent,
                               std::span<const TokenId> tokens, const Match& match) const noexcept {
  CacheMiss miss{.position = match.tokens()};
  miss.wanted = tokens[static_cast<std::size_t>(miss.position)];
  const auto rest = tokens.subspan(static_cast<std::size_t>(match.whole));
  if (rest.size() >= kBlockTokens) {
    const std::uint64_t key = key_of(parent_key, rest.first(kBlockTokens));
    if (evicted_[key & (evicted_.size() - 1)] == key) {
      miss.reason = MissReason::kEvicted;
      return miss;
    }
  }
  if (match.tokens() == 0) {
    miss.reason = MissReason::kNeverSeen;
    return miss;
  }
  const int other = match.extra > 0 ? match.tail : at(parent).first_child;
  const bool goes_on = other >= 0 && match.extra < at(other).n_ids;
  miss.reason = goes_on ? MissReason::kEdited : MissReason::kNew;
  if (goes_on) miss.cached = at(other).ids[static_cast<std::size_t>(match.extra)];
  return miss;
}

// Whether another tenant has these tokens cached: whole blocks, then a part of one.
bool PrefixCache::another_tenant_has(std::uint64_t tenant,
                                     std::span<const TokenId> tokens) const noexcept {
  for (int root = first_root_; root >= 0; root = at(root).next_sibling) {
    if (at(root).tenant == tenant) continue;
    int parent = root;
    auto rest = tokens;
    while (rest.size() >= kBlockTokens && parent >= 0) {
      parent = child(parent, rest.first(kBlockTokens));
      rest = rest.subspan(kBlockTokens);
    }
    if (parent < 0) continue;
    Match match;
    find_tail(parent, rest, match);
    if (match.extra == static_cast<int>(rest.size())) return true;
  }
  return false;
}

void PrefixCache::attach(const Match& match, SeqId seq) noexcept {
  std::size_t n = 0;
  for (int node = match.node; node >= 0 && at(node).n_ids > 0; node = at(node).parent)
    path_[n++] = at(node).block;
  std::reverse(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(n));
  memory_.attach(seq, std::span(path_).first(n), match.extra > 0 ? at(match.tail).block : -1,
                 match.extra);
  touch(match.extra > 0 ? match.tail : match.node);
}

void PrefixCache::touch(int node) noexcept {
  for (; node >= 0 && at(node).n_ids > 0; node = at(node).parent) {
    unlink_age(node);
    link_age(node, -1);
  }
}

int PrefixCache::add(PrefixOwner owner, int node, std::span<const TokenId> ids,
                     BlockId block) noexcept {
  const int parent = node >= 0 ? node : make_root(owner);
  const int known = find_saying(parent, ids);
  if (known >= 0) return known;
  const bool is_whole = ids.size() == kBlockTokens;
  const int added = take_node(parent, is_whole ? key_of(at(parent).key, ids) : 0);
  Node& fresh = at(added);
  std::copy(ids.begin(), ids.end(), fresh.ids.begin());
  fresh.n_ids = static_cast<int>(ids.size());
  fresh.block = block;
  memory_.pin(block);
  ++n_blocks_;
  if (is_whole) link_bucket(added);
  // Older than its parent, newer than all nodes that may be evicted before it.
  link_age(added, at(parent).n_ids > 0 ? parent : -1);
  drop_parts_of(added);
  return added;
}

// The child of `parent` whose ids begin with `ids`, -1 = none.
int PrefixCache::find_saying(int parent, std::span<const TokenId> ids) const noexcept {
  if (ids.size() == kBlockTokens) return child(parent, ids);
  Match match;
  find_tail(parent, ids, match);
  return match.extra == static_cast<int>(ids.size()) ? match.tail : -1;
}

// Removes partial siblings whose tokens `node` contains too.
void PrefixCache::drop_parts_of(int node) noexcept {
  const auto ids = std::span(at(node).ids).first(static_cast<std::size_t>(at(node).n_ids));
  int left = kMaxSiblings;
  for (int other = at(node).next_sibling; other >= 0 && left > 0; --left) {
    const Node& n = at(other);
    const int following = n.next_sibling;
    const auto said = std::span(n.ids).first(static_cast<std::size_t>(n.n_ids));
    if (n.n_ids < at(node).n_ids && common(said, ids) == n.n_ids) remove(other);
    other = following;
  }
}

int PrefixCache::evict(int n_blocks) noexcept {
  int freed = 0;
  for (int node = oldest_; node >= 0 && freed < n_blocks;) {
    const Node& n = at(node);
    const int newer = n.newer;
    if (n.first_child < 0 && memory_.is_evictable(n.block)) {
      if (n.key != 0) evicted_[n.key & (evicted_.size() - 1)] = n.key;
      remove(node);
      ++freed;
    }
    node = newer;
  }
  return freed;
}

// Leaves first: a node needs all nodes above it.
int PrefixCache::drop(std::uint64_t tenant) noexcept {
  const int before = n_blocks_;
  for (int root = first_root_; root >= 0;) {
    const int next = at(root).next_sibling;
    for (bool has_more = at(root).tenant == tenant; has_more;) {
      int node = at(root).first_child;
      while (at(node).first_child >= 0)
        node = at(node).first_child;
      has_more = at(node).parent != root || at(node).next_sibling >= 0;
      remove(node);  // the last one takes its root with it
    }
    root = next;
  }
  return before - n_blocks_;
}

std::size_t PrefixCache::bytes() const noexcept {
  return nodes_.size() * sizeof(nodes_[0]) + buckets_.size() * sizeof(buckets_[0]) +
         evicted_.size() * sizeof(evicted_[0]) + path_.size() * sizeof(path_[0]);
}

// ---- links of the tree

// An unused node, first among the children of `parent` (-1 = a root).
int PrefixCache::take_node(int parent, std::uint64_t key) noexcept {
  const int node = free_node_;
  WICK_CHECK(node >= 0, "each block has one node, each root a child");
  free_node_ = at(node).parent;
  int& first = parent >= 0 ? at(parent).first_child : first_root_;
  at(node) = {.key = key, .parent = parent, .next_sibling = first};
  if (first >= 0) at(first).previous_sibling = node;
  first = node;
  return node;
}

int PrefixCache::make_root(PrefixOwner owner) noexcept {
  int node = root(owner);
  if (node >= 0) return node;
  node = take_node(-1, root_key(owner));
  at(node).tenant = owner.tenant;
  link_bucket(node);
  return node;
}

void PrefixCache::remove(int node) noexcept {
  Node& n = at(node);
  const int parent = n.parent;
  if (n.previous_sibling >= 0) {
    at(n.previous_sibling).next_sibling = n.next_sibling;
  } else {
    (parent >= 0 ? at(parent).first_child : first_root_) = n.next_sibling;
  }
  if (n.next_sibling >= 0) at(n.next_sibling).previous_sibling = n.previous_sibling;
  if (n.n_ids == 0 || n.n_ids == kBlockTokens) unlink_bucket(node);
  if (n.n_ids > 0) {
    unlink_age(node);
    memory_.unpin(n.block);
    --n_blocks_;
  }
  n = {.parent = free_node_};
  free_node_ = node;
  if (parent >= 0 && at(parent).n_ids == 0 && at(parent).first_child < 0) remove(parent);
}

void PrefixCache::link_bucket(int node) noexcept {
  int& head = bucket(at(node).key);
  at(node).next_in_bucket = head;
  head = node;
}

void PrefixCache::unlink_bucket(int node) noexcept {
  int* place = &bucket(at(node).key);
  while (*place != node)
    place = &at(*place).next_in_bucket;
  *place = at(node).next_in_bucket;
}

// Directly behind `newer`, -1 = before all.
void PrefixCache::link_age(int node, int newer) noexcept {
  Node& n = at(node);
  n.newer = newer;
  n.older = newer >= 0 ? at(newer).older : newest_;
  (n.newer >= 0 ? at(n.newer).older : newest_) = node;
  (n.older >= 0 ? at(n.older).newer : oldest_) = node;
}

void PrefixCache::unlink_age(int node) noexcept {
  const Node& n = at(node);
  (n.newer >= 0 ? at(n.newer).older : newest_) = n.older;
  (n.older >= 0 ? at(n.older).newer : oldest_) = n.newer;
}

}  // namespace wick
