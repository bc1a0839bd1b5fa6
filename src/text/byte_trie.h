// A set of byte strings, each with a number. One walk finds all strings that a text starts with. It
// is a double-array trie: 8 bytes per node, one memory access per byte of the text. Built once from
// sorted keys, then immutable; any thread.
//
//   trie.build({{"a", 0}, {"ab", 1}});
//   trie.prefixes("abc", 0, [](std::size_t bytes, std::int32_t number) { … });  // (1, 0), (2, 1)
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wick {

class ByteTrie {
 public:
  struct Key {
    std::string_view text = {};
    std::int32_t number = 0;  // 0 or more
  };

  // Among keys with the same text the last counts; empty keys are ignored. Returns false if the
  // keys need more than kMaxTrieNodes nodes.
  bool build(std::vector<Key> keys);

  bool is_empty() const noexcept { return values_.size() <= 1; }

  // Hot: hands each key that `text` starts with to `found(bytes, number)`, the shortest first.
  // Returns how many bytes it looked at.
  template <class Found>
  std::size_t prefixes(std::string_view text, const Found& found) const noexcept {
    if (nodes_.empty()) return 0;
    std::uint32_t node = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::uint32_t next =
          nodes_[node].base ^ static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
      if ((nodes_[next].parent & ~kHasValue) != node) return at + 1;
      node = next;
      if ((nodes_[node].parent & kHasValue) != 0) found(at + 1, values_[node]);
    }
    return text.size();
  }

  struct Match {
    std::size_t bytes = 0;  // 0: none
    std::int32_t number = -1;
  };

  // The longest key that `text` starts with.
  Match longest(std::string_view text) const noexcept {
    Match match;
    prefixes(text, [&](std::size_t bytes, std::int32_t number) { match = {bytes, number}; });
    return match;
  }

 private:
  friend class ByteTrieBuilder;

  // The child of a node by a byte is nodes_[base ^ byte], if that one's parent is the node. The
  // root is node 0; its parent, and that of places not in use, is kNone.
  struct Node {
    std::uint32_t base = 0;
    std::uint32_t parent = kNone;
  };

  static constexpr std::uint32_t kHasValue = 0x80000000U;
  static constexpr std::uint32_t kNone = 0x7FFFFFFFU;

  std::vector<Node> nodes_ = {};
  std::vector<std::int32_t> values_ = {};
};

}  // namespace wick
