// Nodes are placed in the order of the sorted keys, children of a node together: base is chosen so
// that base ^ byte is free for each of their bytes. All 256 places of a base lie in one block of
// 256. Free places are looked for in the last kOpenBlocks blocks only, so that building takes time
// in proportion to the keys; a node with one child, which most are, fits anywhere.
#include "text/byte_trie.h"

#include <algorithm>

#include "text/limits.h"

namespace wick {
namespace {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kOpenBlocks = 16;
constexpr int kTries = 64;  // free places looked at for one node

}  // namespace

class ByteTrieBuilder {
 public:
  ByteTrieBuilder(ByteTrie& trie, const std::vector<ByteTrie::Key>& keys)
      : trie_(trie), keys_(keys) {}

  bool build() {
    add_block();
    take(0);
    std::vector<Run> open{{.node = 0, .begin = 0, .end = keys_.size(), .depth = 0}};
    while (!open.empty()) {
      const Run run = open.back();
      open.pop_back();
      if (!place_children(run, open)) return false;
    }
    return true;
  }

 private:
  // Keys [begin, end) share the first `depth` bytes, which lead to `node`.
  struct Run {
    std::uint32_t node = 0;
    std::size_t begin = 0, end = 0, depth = 0;
  };

  bool place_children(const Run& run, std::vector<Run>& open) {
    std::size_t at = run.begin;
    while (at < run.end && keys_[at].text.size() == run.depth) {  // of equal keys the last counts
      if (run.depth > 0) {
        trie_.nodes_[run.node].parent |= ByteTrie::kHasValue;
        trie_.values_[run.node] = keys_[at].number;
      }
      ++at;
    }
    children_.clear();
    bytes_.clear();
    while (at < run.end) {
      const char byte = keys_[at].text[run.depth];
      const std::size_t begin = at;
      while (at < run.end && keys_[at].text[run.depth] == byte) {
        ++at;
      }
      bytes_.push_back(static_cast<unsigned char>(byte));
      children_.push_back({.begin = begin, .end = at, .depth = run.depth + 1});
    }
    if (children_.empty()) return true;
    const std::uint32_t base = find_base();
    if (trie_.nodes_.size() > kMaxTrieNodes) return false;
    trie_.nodes_[run.node].base = base;
    for (std::size_t i = children_.size(); i-- > 0;) {  // the last on the stack comes first
      children_[i].node = base ^ bytes_[i];
      take(children_[i].node);
      trie_.nodes_[children_[i].node].parent = run.node;
      open.push_back(children_[i]);
    }
    return true;
  }

  std::uint32_t find_base() {
    int tries = 0;
    for (std::uint32_t place = next_[kHead]; place != kHead && tries < kTries; ++tries) {
      const std::uint32_t base = (place - 1) ^ bytes_.front();
      if (std::all_of(bytes_.begin(), bytes_.end(),
                      [&](std::uint32_t byte) { return is_free(base ^ byte); })) {
        return base;
      }
      place = next_[place];
    }
    const auto base = static_cast<std::uint32_t>(trie_.nodes_.size());
    add_block();
    return base ^ bytes_.front();
  }

  // Free places are a ring of their numbers + 1; kHead is its start.
  static constexpr std::uint32_t kHead = 0;

  bool is_free(std::uint32_t place) const noexcept { return next_[place + 1] != kTaken; }

  void add_block() {
    const std::size_t first = trie_.nodes_.size();
    trie_.nodes_.resize(first + kBlock);
    trie_.values_.resize(first + kBlock, -1);
    next_.resize(first + kBlock + 1, kTaken);
    prev_.resize(first + kBlock + 1, kTaken);
    if (first == 0) next_[kHead] = prev_[kHead] = kHead;
    for (std::size_t i = first + 1; i <= first + kBlock; ++i) {
      const auto place = static_cast<std::uint32_t>(i);
      next_[place] = kHead;
      prev_[place] = prev_[kHead];
      next_[prev_[kHead]] = place;
      prev_[kHead] = place;
    }
    while (first >= kOpenBlocks * kBlock && next_[kHead] - 1 < first - kOpenBlocks * kBlock) {
      take(next_[kHead] - 1);
    }
  }

  void take(std::uint32_t node) {
    const std::uint32_t place = node + 1;
    next_[prev_[place]] = next_[place];
    prev_[next_[place]] = prev_[place];
    next_[place] = kTaken;
  }

  static constexpr std::uint32_t kTaken = UINT32_MAX;

  ByteTrie& trie_;
  const std::vector<ByteTrie::Key>& keys_;
  std::vector<std::uint32_t> next_ = {}, prev_ = {};
  std::vector<Run> children_ = {};
  std::vector<std::uint32_t> bytes_ = {};
};

bool ByteTrie::build(std::vector<Key> keys) {
  keys.erase(std::remove_if(keys.begin(), keys.end(), [](const Key& k) { return k.text.empty(); }),
             keys.end());
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& a, const Key& b) { return a.text < b.text; });
  nodes_.clear();
  values_.clear();
  if (keys.empty()) return true;
  return ByteTrieBuilder(*this, keys).build();
}

}  // namespace wick
