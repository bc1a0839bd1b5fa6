// The tokens of a vocabulary by their bytes, as three trees in depth-first order: the tokens that
// are plain text (plain_text.h), those that are plain text up to a quote or backslash, and the
// others. A fourth tree has what may stand behind a JSON value: whole tokens and ends of tokens. A
// subtree is a run of nodes, so that leaving it out is one addition. Of the second tree's tokens it
// is known how they go on in the name of an object's member and in a string of an array. Immutable,
// any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"

namespace wick::grammar {

// A byte that may follow a JSON value.
constexpr bool may_follow_value(unsigned char byte) noexcept {
  return byte == ',' || byte == ']' || byte == '}' || byte == ' ' || byte == '\n' || byte == '\r' ||
         byte == '\t';
}

class TokenTrie {
 public:
  struct Node {
    std::uint32_t end = 0;          // index behind the subtree
    std::uint32_t first_token = 0;  // of the subtree
    std::uint16_t depth = 0;        // bytes before this one
    std::uint16_t longest = 0;      // bytes of the subtree's longest token
    std::uint16_t n_tokens = 0;     // that end here: the first ones of the subtree
    unsigned char byte = 0;
  };

  struct Tree {
    std::vector<Node> nodes = {};
    std::vector<TokenId> tokens = {};  // in the order of the nodes

    std::span<const TokenId> tokens_at(const Node& node) const noexcept {
      return {tokens.data() + node.first_token, node.n_tokens};
    }

    std::span<const TokenId> tokens_below(const Node& node) const noexcept {
      const std::size_t end = node.end < nodes.size() ? nodes[node.end].first_token : tokens.size();
      return std::span(tokens).subspan(node.first_token, end - node.first_token);
    }
  };

  // A token that ends a name; what it has behind the quote, or kNothing.
  struct NameEnd {
    TokenId token = 0;
    std::uint32_t behind = 0;
  };

  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

  // `bytes[id]` are the bytes of a token. Tokens without bytes (control tokens) are never allowed.
  // `ends`: EOG tokens.
  static TokenTrie make(std::span<const std::string_view> bytes, std::span<const TokenId> ends);
  // Normal, user-defined and byte tokens of a tokenizer, and its ends of generation.
  static TokenTrie from(const Tokenizer& tokenizer);

  const Tree& plain() const noexcept { return plain_; }

  const Tree& quoted() const noexcept { return quoted_; }

  const Tree& others() const noexcept { return others_; }

  // The texts within tokens that begin where a value may be over; its ids number them.
  const Tree& behind() const noexcept { return behind_; }

  // Of the tokens of quoted(), in strings that are compared (Recognizer::AnyItem): the texts behind
  // the quote that ends the string, numbered by the tree's ids; `ids`, by the place of the token in
  // quoted(), or kNothing where it ends with the quote, or kNoEnd. Not in there are the tokens of
  // `far_ends`, which also have a byte of the array's next item, or, where `within_value`, of what
  // is behind the array or object; their texts are in `farther`.
  struct StringEnds {
    Tree behind = {}, farther = {};
    std::vector<std::uint32_t> ids = {};
    std::vector<NameEnd> far_ends = {};  // in the order of their bytes
  };

  static constexpr std::uint32_t kNoEnd = kNothing - 1;

  const StringEnds& string_ends(bool within_value) const noexcept {
    return string_ends_[within_value ? 1 : 0];
  }

  // The tokens that end a string after a rest of it (decoded), by these rests.
  const std::map<std::string, std::vector<TokenId>>& string_rests() const noexcept {
    return string_rests_;
  }

  // Of the tokens of quoted(): those with which a name goes on but does not end; those that end it
  // after a rest of it (decoded), in the order of their bytes; and those that also have a byte of
  // the object's next name or one behind the object.
  std::span<const TokenId> within_names() const noexcept { return within_names_; }

  const std::unordered_map<std::string, std::vector<NameEnd>>& name_ends() const noexcept {
    return name_ends_;
  }

  const Tree& behind_members() const noexcept { return behind_members_; }

  // The texts of `name_ends` behind the quote; its ids number them.
  const Tree& behind_names() const noexcept { return behind_names_; }

  // Bit t = token t is plain.
  const std::vector<std::uint64_t>& plain_bits() const noexcept { return plain_bits_; }

  std::span<const TokenId> ends() const noexcept { return ends_; }

  bool is_end(TokenId id) const noexcept;

  // Empty for ids out of range, too.
  std::string_view bytes(TokenId id) const noexcept;

  // The longest token that `text` begins with; -1 if there is none.
  TokenId longest_prefix(std::string_view text) const noexcept;

  int size() const noexcept { return static_cast<int>(begins_.size()) - 1; }  // ids: 0 .. size()-1

  std::size_t longest_token_bytes() const noexcept { return longest_; }

 private:
  void build_behind();
  void build_names();
  void build_string_ends(StringEnds& out, bool within_value);
  TokenId longest_prefix(const Tree& tree, std::string_view text) const noexcept;

  Tree plain_ = {}, quoted_ = {}, others_ = {}, behind_ = {};
  Tree behind_names_ = {}, behind_members_ = {};
  std::array<StringEnds, 2> string_ends_ = {};
  std::map<std::string, std::vector<TokenId>> string_rests_ = {};
  std::vector<TokenId> within_names_ = {};
  std::unordered_map<std::string, std::vector<NameEnd>> name_ends_ = {};
  std::vector<std::uint64_t> plain_bits_ = {};
  std::vector<TokenId> ends_ = {};
  std::string arena_ = {};
  std::vector<std::uint32_t> begins_ = {0};  // of each token in arena_, and its end
  std::size_t longest_ = 0;
};

}  // namespace wick::grammar
