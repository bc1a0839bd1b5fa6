// The tokens of a vocabulary by their bytes, as a tree in depth-first order: a subtree is a run of
// nodes, so that leaving it out is one addition. Immutable, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"

namespace wick::grammar {

class TokenTrie {
 public:
  struct Node {
    std::uint32_t end = 0;          // index behind the subtree
    std::uint32_t first_token = 0;  // in tokens(); those that end here
    std::uint16_t depth = 0;        // bytes before this one
    std::uint16_t n_tokens = 0;
    unsigned char byte = 0;
  };

  // `bytes[id]` are the bytes of a token. Tokens without bytes (control tokens) are never allowed.
  // `ends`: EOG tokens.
  static TokenTrie make(std::span<const std::string_view> bytes, std::span<const TokenId> ends);
  // Normal, user-defined and byte tokens of a tokenizer, and its ends of generation.
  static TokenTrie from(const Tokenizer& tokenizer);

  std::span<const Node> nodes() const noexcept { return nodes_; }

  std::span<const TokenId> tokens_at(const Node& node) const noexcept {
    return {tokens_.data() + node.first_token, node.n_tokens};
  }

  std::span<const TokenId> ends() const noexcept { return ends_; }

  bool is_end(TokenId id) const noexcept;

  // Empty for ids out of range, too.
  std::string_view bytes(TokenId id) const noexcept;

  // The longest token that `text` begins with; -1 if there is none.
  TokenId longest_prefix(std::string_view text) const noexcept;

  int size() const noexcept { return static_cast<int>(begins_.size()) - 1; }  // ids: 0 .. size()-1

  std::size_t longest_token_bytes() const noexcept { return longest_; }

 private:
  std::vector<Node> nodes_ = {};
  std::vector<TokenId> tokens_ = {};  // in the order of the tree
  std::vector<TokenId> ends_ = {};
  std::string arena_ = {};
  std::vector<std::uint32_t> begins_ = {0};  // of each token in arena_, and its end
  std::size_t longest_ = 0;
};

}  // namespace wick::grammar
