#include "grammar/token_trie.h"

#include <algorithm>
#include <limits>

#include "grammar/limits.h"

namespace wick::grammar {

TokenTrie TokenTrie::make(std::span<const std::string_view> bytes, std::span<const TokenId> ends) {
  TokenTrie trie;
  trie.ends_.assign(ends.begin(), ends.end());
  for (std::size_t id = 0; id < bytes.size(); ++id) {
    const bool is_end = trie.is_end(static_cast<TokenId>(id));
    const bool is_used = !bytes[id].empty() && bytes[id].size() <= kMaxTrieTokenBytes && !is_end;
    if (is_used) {
      trie.arena_ += bytes[id];
      trie.longest_ = std::max(trie.longest_, bytes[id].size());
      trie.tokens_.push_back(static_cast<TokenId>(id));
    }
    trie.begins_.push_back(static_cast<std::uint32_t>(trie.arena_.size()));
  }
  std::sort(trie.tokens_.begin(), trie.tokens_.end(), [&](TokenId a, TokenId b) {
    const int order = trie.bytes(a).compare(trie.bytes(b));
    return order < 0 || (order == 0 && a < b);
  });
  // Nodes from the root to the token before; those that the next one does not share are closed.
  std::vector<std::uint32_t> open;
  std::string_view before;
  for (std::size_t i = 0; i < trie.tokens_.size(); ++i) {
    const std::string_view text = trie.bytes(trie.tokens_[i]);
    std::size_t shared = 0;
    while (shared < before.size() && shared < text.size() && before[shared] == text[shared]) {
      ++shared;
    }
    for (; open.size() > shared; open.pop_back()) {
      trie.nodes_[open.back()].end = static_cast<std::uint32_t>(trie.nodes_.size());
    }
    for (std::size_t d = shared; d < text.size(); ++d) {
      open.push_back(static_cast<std::uint32_t>(trie.nodes_.size()));
      trie.nodes_.push_back(
          {.depth = static_cast<std::uint16_t>(d), .byte = static_cast<unsigned char>(text[d])});
    }
    Node& last = trie.nodes_[open.back()];
    if (last.n_tokens == 0) last.first_token = static_cast<std::uint32_t>(i);
    if (last.n_tokens < std::numeric_limits<std::uint16_t>::max()) ++last.n_tokens;
    before = text;
  }
  for (const std::uint32_t node : open) {
    trie.nodes_[node].end = static_cast<std::uint32_t>(trie.nodes_.size());
  }
  return trie;
}

TokenTrie TokenTrie::from(const Tokenizer& tokenizer) {
  std::vector<std::string_view> bytes(static_cast<std::size_t>(tokenizer.size()));
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    const TokenKind kind = tokenizer.kind(id);
    const bool is_text =
        kind == TokenKind::kNormal || kind == TokenKind::kUserDefined || kind == TokenKind::kByte;
    if (is_text) bytes[static_cast<std::size_t>(id)] = tokenizer.bytes(id);
  }
  return make(bytes, tokenizer.ends());
}

bool TokenTrie::is_end(TokenId id) const noexcept {
  return std::find(ends_.begin(), ends_.end(), id) != ends_.end();
}

TokenId TokenTrie::longest_prefix(std::string_view text) const noexcept {
  TokenId longest = -1;
  std::size_t i = 0, end = nodes_.size();
  for (const char c : text) {
    while (i < end && nodes_[i].byte != static_cast<unsigned char>(c))
      i = nodes_[i].end;
    if (i >= end) break;
    const auto here = tokens_at(nodes_[i]);
    if (!here.empty()) longest = here.front();
    end = nodes_[i].end;
    ++i;
  }
  return longest;
}

std::string_view TokenTrie::bytes(TokenId id) const noexcept {
  if (id < 0 || id >= size()) return {};
  const auto i = static_cast<std::size_t>(id);
  return std::string_view(arena_).substr(begins_[i], begins_[i + 1] - begins_[i]);
}

}  // namespace wick::grammar
