// Exact masks: in a state of a recognizer a token is allowed if and only if some document continues
// with its bytes; EOG tokens are allowed if and only if the document may end here. A mask is
// computed by a walk over the token trie, which leaves out plain tokens that PlainReach proves to
// be allowed. Masks are cached by state, up to kMaxMaskCacheBytes; equal ones are stored once.
//
// States with Recognizer::Parts share walks: the tokens allowed within the value are found once for
// all places with such a value. What follows a value is told apart by its signature alone, the set
// of texts of TokenTrie::behind() that may come.
//
// Shared by all sequences with the same constraint and vocabulary; one thread at a time, as the
// recognizer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/flat_map.h"
#include "grammar/plain_text.h"
#include "grammar/recognizer.h"
#include "grammar/shared_strings.h"
#include "grammar/token_mask.h"
#include "grammar/token_trie.h"

namespace wick::grammar {

class TokenMasks {
 public:
  // `strings`: shared with the other formats of the vocabulary, or null.
  TokenMasks(std::unique_ptr<Recognizer> recognizer, std::shared_ptr<const TokenTrie> trie,
             std::shared_ptr<SharedStrings> strings = nullptr);

  // The pointer keeps the mask alive, also after its eviction from the cache.
  Result<std::shared_ptr<const TokenMask>> mask(StateId state);

  Recognizer& recognizer() noexcept { return *recognizer_; }

  const TokenTrie& trie() const noexcept { return *trie_; }

  // About the bytes of masks and recognizer. What formats share is not in it.
  std::size_t used_bytes() const noexcept { return cache_bytes_ + recognizer_->used_bytes(); }

  // Walks over the vocabulary.
  std::uint64_t n_computed() const noexcept { return n_computed_; }

 private:
  using PlainText = Recognizer::PlainText;
  using Parts = Recognizer::Parts;
  using OpenName = Recognizer::OpenName;
  using Mask = std::shared_ptr<const TokenMask>;
  using Signature = std::uint32_t;

  static constexpr Signature kNoSignature = ~Signature{0};
  static constexpr std::size_t kEntryBytes = 64;  // of a part or mask that is stored

  // Like MaskPart, for TokenTrie::behind() or behind_names().
  struct WithinBehind {
    Signature set = 0;
    std::vector<TrieExit> exits = {};
  };

  // What may come behind a string that is compared: texts of TokenTrie::StringEnds, and tokens that
  // go farther.
  struct ItemEnds {
    Signature texts = 0;
    std::vector<TokenTrie::NameEnd> farther = {};
  };

  // A place on the way to a node. Within plain text, states are made when they are needed.
  struct Step {
    StateId state = kDeadState;
    regex::ExprId rest = regex::kEmptySet;
    bool is_made = false, is_text = false, is_json_string = false;
  };

  Result<Mask> compute(StateId state);
  // The same by parts; null where that fails.
  Mask joined(const Parts& parts);
  const MaskPart* within(StateId state);
  std::optional<Signature> signature(StateId state);
  std::optional<Signature> joined_signature(const Parts& parts);
  const WithinBehind* within_behind(StateId state);
  // Within a string of an array (token_masks_names.cc).
  bool find_in_string(StateId state, const PlainText& text, const Recognizer::AnyItem& item);
  const ItemEnds* ends_of(const Recognizer::AnyItem& item);
  Mask mask_of_strings(const Recognizer::AnyItem& item, const ItemEnds& ends);
  bool forbid_excluded(const PlainText& text, const Recognizer::AnyItem& item);
  // Within a name.
  bool has_few_texts(StateId state);
  bool find_in_name(StateId state, const OpenName& name);
  bool find_among_names(StateId state, const PlainText& text, const OpenName& name);
  std::optional<Signature> signature_of_rest(StateId state, const PlainText& text,
                                             std::string_view rest);
  bool walk_own_names(StateId state, const OpenName& name);
  Mask mask_of_names(StateId behind, StateId state);
  std::optional<Signature> signature_of_name(StateId behind);
  const WithinBehind* value_behind_name(StateId state, std::size_t colon);
  bool walk_ends(StateId state, std::span<const TokenTrie::NameEnd> ends);
  std::optional<TokenBits> find_spelled(StateId state);
  Signature signature_of_scratch();
  // Sets the bits of the tokens that may come next; false if the recognizer failed.
  bool find_allowed(StateId state);
  bool walk_all(StateId state);
  bool walk_each(StateId state);
  void allow(std::span<const TokenId> ids) noexcept;
  void forbid(TokenId id) noexcept;
  std::optional<SharedStrings::Key> shared_key(const PlainText& text, SharedStrings::Kind kind);
  const MaskPart* plain_part(const PlainText& text);
  Mask mask_of_scratch(const Mask& base);
  Mask shared(Mask mask);
  std::shared_ptr<const TokenBits> shared_bits();
  void forget_if_full();
  // Each sets the bits of a tree's allowed tokens; false if the recognizer failed.
  bool walk(const TokenTrie::Tree& tree, StateId state, bool uses_text);
  bool walk(const TokenTrie::Tree& tree, std::size_t from, std::size_t to, StateId state,
            bool uses_text);
  bool walk_behind(StateId state);
  bool walk_exits(const std::vector<TrieExit>& exits, StateId state);
  bool walk_plain(const PlainText& text);
  void place(Step& step, bool uses_text);
  StateId made(std::size_t depth);

  std::unique_ptr<Recognizer> recognizer_;
  std::shared_ptr<const TokenTrie> trie_;
  std::shared_ptr<SharedStrings> strings_;
  SharedStrings::Copies copies_ = {};  // of the recognizer's expressions
  FlatHashMap cache_ = {};           // indices into cached_, by state
  std::vector<Mask> cached_ = {};    // each once
  std::unordered_map<const TokenMask*, std::uint32_t> cached_ids_ = {};
  std::unordered_map<std::uint64_t, Mask> masks_ = {};                              // by hash
  std::unordered_map<std::uint64_t, std::shared_ptr<const TokenBits>> bits_ = {};  // by hash
  std::unordered_map<StateId, std::shared_ptr<const MaskPart>> within_ = {};
  std::unordered_map<StateId, WithinBehind> within_behind_ = {};
  std::unordered_map<std::uint64_t, Mask> joined_ = {};  // by state within and signature
  std::unordered_map<std::uint64_t, Signature> joined_behind_ = {};
  std::unordered_map<StateId, Signature> signatures_ = {};
  std::unordered_map<std::uint64_t, std::vector<Signature>> signature_ids_ = {};  // by hash
  std::vector<TokenBits> behind_ = {};                                            // by signature
  std::unordered_map<StateId, Mask> name_masks_ = {};       // by state behind other names
  std::unordered_map<Signature, Mask> name_mask_ids_ = {};  // by texts behind other names
  std::unordered_map<StateId, Signature> name_texts_ = {};  // by state behind a name
  std::unordered_map<StateId, WithinBehind> behind_names_ = {};
  Mask plain_mask_ = {};    // all plain tokens
  TokenBits spelled_ = {};  // tokens of quoted() that go on in any name, as far as it goes
  std::unordered_map<StateId, ItemEnds> item_ends_ = {};   // by state behind strings
  // By state within the string and texts behind it, outside of a value and within one.
  std::array<std::unordered_map<std::uint64_t, Mask>, 2> string_masks_ = {};
  bool allows_quotes_ = false;  // tokens that end a name are not walked on, but allowed
  std::size_t cache_bytes_ = 0;
  std::uint64_t n_computed_ = 0;
  PlainReach reach_ = {};
  Exclusions exclusions_ = {};
  std::unordered_map<regex::ExprId, std::shared_ptr<const MaskPart>> plain_parts_ = {};
  Mask base_ = {};                              // found by find_allowed()
  regex::Automaton* automaton_ = nullptr;       // of plain text
  std::vector<TrieExit>* exits_ = nullptr;          // where a walk writes its exits
  std::vector<Step> path_ = {};                 // scratch: by depth
  std::vector<unsigned char> bytes_ = {};       // scratch: by depth
  TokenBits scratch_ = {};
};

}  // namespace wick::grammar
