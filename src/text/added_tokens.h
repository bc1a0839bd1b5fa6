// Added tokens, which are matched before normalization and the model: control tokens in trusted
// text, user-defined tokens everywhere. One byte trie finds the leftmost match, and there the
// longest allowed token. Immutable after build(), any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/types.h"
#include "text/byte_trie.h"
#include "text/limits.h"

namespace wick {

struct AddedToken {
  std::string text = {};
  TokenId id = -1;
  bool is_control = false;
  bool takes_left_space = false;   // lstrip: matches the white space before it, too
  bool takes_right_space = false;  // rstrip: matches the white space after it, too
  bool is_single_word = false;     // matches only between word boundaries
};

// The work of a search in a text of `bytes`: `done` counts bytes that were read outside of matches.
struct AddedWork {
  std::size_t bytes = 0, done = 0;

  bool is_too_much() const noexcept {
    return done > kMaxAddedVainBytes * bytes + kMinAddedVainBytes;
  }
};

class AddedTokens {
 public:
  // Among tokens with the same text the first counts; empty texts never match. Returns false if the
  // tokens are too large for the trie.
  bool build(std::vector<AddedToken> tokens);

  bool is_empty() const noexcept { return tokens_.empty(); }

  // Of the longest text that can match; 0: no limit, because a token takes white space.
  std::size_t longest_match() const noexcept;

  struct Match {
    Span span = {};  // with the white space that it takes
    TokenId id = -1;
    // Where the next match may start. As in Hugging Face's library, white space that this match
    // consumed (lstrip, rstrip) may begin another match.
    std::size_t next = 0;
    std::size_t space_end = 0;  // of the white space that was last looked through
  };

  // The match that follows `last`. A control token must lie entirely inside one of the `trusted`
  // spans, which are in ascending order. Also returns nothing once `work` exceeds its limit.
  std::optional<Match> find(std::string_view text, const Match& last,
                            const std::vector<Span>& trusted, AddedWork& work) const;

 private:
  std::vector<AddedToken> tokens_ = {};
  ByteTrie trie_ = {};                    // of their texts, with indices into tokens_
  std::array<bool, 256> may_start_ = {};  // by the first byte
  int only_start_ = -1;                   // the byte that all begin with, as '<'; -1: several
};

}  // namespace wick
