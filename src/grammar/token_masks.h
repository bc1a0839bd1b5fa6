// Exact masks: in a state of a recognizer a token is allowed if and only if some document continues
// with its bytes; EOG tokens are allowed if and only if the document may end here. A mask is
// computed by a walk over the token trie, which leaves out plain tokens that PlainReach proves to
// be allowed. Masks are cached by state, up to kMaxMaskCacheBytes; equal ones are stored once.
//
// Shared by all sequences with the same constraint and vocabulary; one thread at a time, as the
// recognizer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/plain_text.h"
#include "grammar/recognizer.h"
#include "grammar/token_trie.h"

namespace wick::grammar {

// The allowed tokens: ascending ids if there are at most kMaxSparseIds, else bits.
struct TokenMask {
  bool is_sparse = true;
  std::vector<TokenId> ids = {};
  std::vector<std::uint64_t> bits = {};
  int n_allowed = 0;

  bool allows(TokenId id) const noexcept;
  // Bit t of `out` = token t is allowed. Bits behind the vocabulary (padded logits) are 0.
  void fill(std::span<std::uint64_t> out) const noexcept;
};

class TokenMasks {
 public:
  TokenMasks(std::unique_ptr<Recognizer> recognizer, std::shared_ptr<const TokenTrie> trie)
      : recognizer_(std::move(recognizer)), trie_(std::move(trie)) {}

  // The pointer keeps the mask alive, also after its eviction from the cache.
  Result<std::shared_ptr<const TokenMask>> mask(StateId state);

  Recognizer& recognizer() noexcept { return *recognizer_; }

  const TokenTrie& trie() const noexcept { return *trie_; }

  std::uint64_t n_computed() const noexcept { return n_computed_; }

 private:
  using PlainText = Recognizer::PlainText;

  // The plain tokens that are allowed before the rest of a string.
  struct PlainPart {
    std::shared_ptr<const std::vector<std::uint64_t>> bits = {};
    bool is_within_character = false;  // perhaps
  };

  // A place on the way to a node. Within plain text, states are made when they are needed.
  struct Step {
    StateId state = kDeadState;
    regex::ExprId rest = regex::kEmptySet;
    bool is_made = false, is_text = false, is_json_string = false;
  };

  Result<std::shared_ptr<const TokenMask>> compute(StateId state);
  void allow(std::span<const TokenId> ids) noexcept;
  const PlainPart* plain_part(const PlainText& text);
  std::shared_ptr<const TokenMask> shared(std::shared_ptr<const TokenMask> mask);
  // Each sets the bits of a tree's allowed tokens; false if the recognizer failed.
  bool walk(const TokenTrie::Tree& tree, StateId state, bool uses_text);
  bool walk_plain(const PlainText& text);
  void place(Step& step, bool uses_text);
  StateId made(std::size_t depth);

  std::unique_ptr<Recognizer> recognizer_;
  std::shared_ptr<const TokenTrie> trie_;
  std::unordered_map<StateId, std::shared_ptr<const TokenMask>> cache_ = {};
  std::unordered_map<std::uint64_t, std::shared_ptr<const TokenMask>> masks_ = {};  // by hash
  std::size_t cache_bytes_ = 0;
  std::uint64_t n_computed_ = 0;
  PlainReach reach_ = {};
  std::unordered_map<regex::ExprId, PlainPart> plain_parts_ = {};
  std::unordered_map<std::uint64_t, std::shared_ptr<const std::vector<std::uint64_t>>> plain_bits_ =
      {};                                    // by hash
  regex::Automaton* automaton_ = nullptr;    // of plain text
  std::vector<Step> path_ = {};              // scratch: by depth
  std::vector<unsigned char> bytes_ = {};    // scratch: by depth
  std::vector<std::uint64_t> scratch_ = {};  // scratch: bits
};

}  // namespace wick::grammar
