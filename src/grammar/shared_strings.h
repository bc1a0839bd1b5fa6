// Masks within strings that the formats of one vocabulary share. The inner states of a `format` or
// pattern are the same in each schema, and the walk for one of them takes up to a millisecond.
//
// Expressions of different pools are told to be the same by their copies in a pool of its own,
// where equal expressions have one id. Memory is bounded; beyond the bound all is forgotten. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/limits.h"
#include "grammar/token_mask.h"
#include "grammar/token_trie.h"
#include "regex/expr.h"

namespace wick::grammar {

class SharedStrings {
 public:
  // `trie` is that of all TokenMasks that share. `max_bytes`: of the masks.
  explicit SharedStrings(std::shared_ptr<const TokenTrie> trie,
                         std::size_t max_bytes = kMaxSharedStringBytes)
      : trie_(std::move(trie)), max_bytes_(max_bytes) {}

  // The copies of one pool's expressions. Belongs to the owner of that pool.
  struct Copies {
    std::uint64_t generation = 0;
    std::vector<regex::ExprId> ids = {};
  };

  // What the mask is of, besides the expression.
  enum class Kind : std::uint8_t {
    kPlain,  // plain tokens before the rest of a string
    kAlone,  // tokens within a JSON string that is a document of its own
    kAloneBeforeSpace,  // … behind which white space may come
  };

  struct Key {
    std::uint64_t generation = 0;
    std::uint64_t id = 0;
  };

  // The key of expression `id`; nothing where it takes too much memory.
  std::optional<Key> key(const regex::ExprPool& pool, regex::ExprId id, Kind kind, Copies& copies);
  // Null where it is not known.
  std::shared_ptr<const MaskPart> find(const Key& key) const;
  void add(const Key& key, std::shared_ptr<const MaskPart> part);

  const std::shared_ptr<const TokenTrie>& trie() const noexcept { return trie_; }

 private:
  void forget();

  std::shared_ptr<const TokenTrie> trie_;
  mutable std::mutex mutex_ = {};
  regex::ExprPool pool_ = regex::ExprPool({.max_bytes = kMaxSharedExprBytes});
  std::unordered_map<std::uint64_t, std::shared_ptr<const MaskPart>> parts_ = {};
  std::size_t n_bytes_ = 0, max_bytes_;
  std::uint64_t generation_ = 1;
};

}  // namespace wick::grammar
