// Tokens that are found in the text before anything else is done to it: control tokens in trusted
// text, user-defined ones everywhere. One byte trie finds, at each place, the longest token that
// may stand there; the leftmost place wins. Immutable after build(), any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/types.h"
#include "text/limits.h"

namespace wick {

struct AddedToken {
  std::string text = {};
  TokenId id = -1;
  bool is_control = false;
  bool takes_left_space = false;   // white space before it belongs to it
  bool takes_right_space = false;  // white space behind it belongs to it
  bool is_single_word = false;     // only where no word goes on before or behind it
};

// The bytes that were read to find tokens and belong to none, in a text of `bytes`.
struct AddedWork {
  std::size_t bytes = 0, done = 0;

  bool is_too_much() const noexcept {
    return done > kMaxAddedVainBytes * bytes + kMinAddedVainBytes;
  }
};

class AddedTokens {
 public:
  // Of tokens with the same text the first counts; empty texts never match.
  void build(std::vector<AddedToken> tokens);

  bool is_empty() const noexcept { return tokens_.empty(); }

  struct Match {
    Span span = {};  // with the white space that it takes
    TokenId id = -1;
    // Where the next may start: as in Hugging Face's library, white space that is taken may be, or
    // start, a token as well, and the text goes on behind that one.
    std::size_t next = 0;
    std::size_t space_end = 0;  // of the white space that was last looked through
  };

  // The match that follows `last`. `trusted` are the spans where control tokens count, ascending; a
  // control token must lie in one of them entirely. Nothing, too, once `work` is too much.
  std::optional<Match> find(std::string_view text, const Match& last,
                            const std::vector<Span>& trusted, AddedWork& work) const;

 private:
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t n_edges = 0;
    std::int32_t token = -1;  // index into tokens_, -1 = none ends here
  };

  struct Edge {
    unsigned char byte = 0;
    std::uint32_t node = 0;
  };

  std::int32_t step(std::uint32_t node, unsigned char byte) const noexcept;

  std::vector<AddedToken> tokens_ = {};
  std::vector<Node> nodes_ = {};
  std::vector<Edge> edges_ = {};
  std::array<std::int32_t, 256> roots_ = {};  // first step; -1 = none
  int only_root_ = -1;                        // the byte that all begin with, as '<'; -1: several
};

}  // namespace wick
