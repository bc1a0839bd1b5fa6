// A mask: the tokens that are allowed at one place. Immutable, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grammar/token_trie.h"

namespace wick::grammar {

using TokenBits = std::vector<std::uint64_t>;

// The allowed tokens: those in `bits`, which masks share and which is null if all are in `ids`; and
// besides these at most kMaxSparseIds ascending ids.
struct TokenMask {
  std::shared_ptr<const TokenBits> bits = {};
  std::vector<TokenId> ids = {};
  int n_allowed = 0;

  bool is_sparse() const noexcept { return bits == nullptr; }

  bool allows(TokenId id) const noexcept;
  // Bit t of `out` = token t is allowed. Bits behind the vocabulary (padded logits) are 0.
  void fill(std::span<std::uint64_t> out) const noexcept;
  std::size_t bytes() const noexcept;  // of its own memory, without `bits`
};

// A node of a trie whose byte comes behind the value that a walk began in.
struct TrieExit {
  const TokenTrie::Tree* tree;
  std::uint32_t node;
};

// What a walk finds, where more than one mask is made of it.
struct MaskPart {
  std::shared_ptr<const TokenMask> mask = {};
  std::vector<TrieExit> exits = {};
  bool is_within_character = false;  // perhaps, before plain text
};

}  // namespace wick::grammar
