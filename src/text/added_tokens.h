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

namespace wick {

struct AddedToken {
  std::string text = {};
  TokenId id = -1;
  bool is_control = false;
  bool takes_left_space = false;   // white space before it belongs to it
  bool takes_right_space = false;  // white space behind it belongs to it
  bool is_single_word = false;     // only where no word goes on before or behind it
};

class AddedTokens {
 public:
  // Of tokens with the same text the first counts; empty texts never match.
  void build(std::vector<AddedToken> tokens);

  bool is_empty() const noexcept { return tokens_.empty(); }

  bool has_single_words() const noexcept { return has_single_words_; }

  struct Match {
    Span span = {};  // with the white space that it takes
    TokenId id = -1;
    // Where the next may start: as in Hugging Face's library, white space that is taken may be, or
    // start, a token as well, and the text goes on behind that one.
    std::size_t next = 0;
    std::size_t space_end = 0;  // of the white space that was last looked through

    std::size_t taken_behind() const noexcept { return span.end - next; }
  };

  // What the first match of a text follows: all before `at` is done with, but that tokens may start
  // in the last `taken` bytes of it.
  static Match start_at(std::size_t at, std::size_t taken) noexcept {
    return {.span = {at, at}, .next = at - taken};
  }

  // The match that follows `last`. `trusted` are the spans where control tokens count, ascending; a
  // control token must lie in one of them entirely.
  std::optional<Match> find(std::string_view text, const Match& last,
                            const std::vector<Span>& trusted) const;

  // In a text that may go on: the first place from `from` on where a token may start that is not
  // yet seen whole; the text's size if there is none. A match that ends before it, and before the
  // end of the text, is final.
  std::size_t open_start(std::string_view text, std::size_t from) const noexcept;
  // `end` without the white space in front of it that a token behind it may take.
  std::size_t without_taken_space(std::string_view text, std::size_t from,
                                  std::size_t end) const noexcept;

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
  std::size_t longest_ = 0;                   // bytes of a token
  bool takes_left_space_ = false;             // one of them does
  bool has_single_words_ = false;
};

}  // namespace wick
