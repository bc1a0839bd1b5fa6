#include "grammar/token_trie.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "grammar/json_spelling.h"
#include "grammar/limits.h"
#include "grammar/plain_text.h"

namespace wick::grammar {
namespace {

// The last byte of a string, object, array, number or word.
constexpr bool may_end_value(unsigned char byte) noexcept {
  return byte == '"' || byte == '}' || byte == ']' || (byte >= '0' && byte <= '9') || byte == 'e' ||
         byte == 'l';
}

// `text`, which stands behind a member's name, may have a byte of the object's next name or one
// behind the object.
bool may_leave_member(std::string_view text) noexcept {
  int depth = 0;
  bool is_string = false, has_comma = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_last = i + 1 == text.size();
    if (is_string) {
      if (c == '\\') ++i;
      is_string = c != '"';
    } else if (c == '"') {
      if (depth == 0 && has_comma && !is_last) return true;
      is_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth < 0 && !is_last) return true;
    } else if (c == ',' && depth == 0) {
      has_comma = true;
    }
  }
  return false;
}

// `text`, which stands behind a string, may have a byte of the next item, besides a quote that
// begins it, or one behind the array or object if that is asked.
bool goes_farther(std::string_view text, bool within_value) noexcept {
  bool has_comma = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (has_comma) return c != '"' || i + 1 < text.size();
    if (c != ',') return within_value && i + 1 < text.size();
    has_comma = true;
  }
  return false;
}

// What `token` adds to a name or string; `end`: behind the quote that ends it, or 0. Nothing if it
// can stand in none.
std::optional<std::string> decoded_name(std::string_view token, std::size_t& end) {
  std::string name;
  Spelling place;
  end = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const auto byte = static_cast<unsigned char>(token[i]);
    const Spelled spelled = feed(place, byte);
    if (spelled.kind == Spelled::Kind::kWrong) return std::nullopt;
    if (spelled.kind == Spelled::Kind::kEnd) {
      end = i + 1;
      return name;
    }
    name += bytes_of(spelled, byte);
  }
  return name;
}

// Sorts the tokens and makes the nodes.
template <class Bytes>
void build_tree(TokenTrie::Tree& tree, const Bytes& bytes) {
  std::sort(tree.tokens.begin(), tree.tokens.end(), [&](TokenId a, TokenId b) {
    const int order = bytes(a).compare(bytes(b));
    return order < 0 || (order == 0 && a < b);
  });
  // Nodes from the root to the token before; those that the next one does not share are closed.
  std::vector<std::uint32_t> open;
  const auto close = [&](std::size_t n) {
    for (; open.size() > n; open.pop_back()) {
      TokenTrie::Node& node = tree.nodes[open.back()];
      node.end = static_cast<std::uint32_t>(tree.nodes.size());
      if (open.size() == 1) continue;
      TokenTrie::Node& above = tree.nodes[open[open.size() - 2]];
      above.longest = std::max(above.longest, node.longest);
    }
  };
  std::string_view before;
  for (std::size_t i = 0; i < tree.tokens.size(); ++i) {
    const std::string_view text = bytes(tree.tokens[i]);
    std::size_t shared = 0;
    while (shared < before.size() && shared < text.size() && before[shared] == text[shared]) {
      ++shared;
    }
    close(shared);
    for (std::size_t d = shared; d < text.size(); ++d) {
      open.push_back(static_cast<std::uint32_t>(tree.nodes.size()));
      tree.nodes.push_back({.first_token = static_cast<std::uint32_t>(i),
                            .depth = static_cast<std::uint16_t>(d),
                            .byte = static_cast<unsigned char>(text[d])});
    }
    TokenTrie::Node& last = tree.nodes[open.back()];
    last.longest = std::max(last.longest, static_cast<std::uint16_t>(text.size()));
    if (last.n_tokens < std::numeric_limits<std::uint16_t>::max()) ++last.n_tokens;
    before = text;
  }
  close(0);
}

// The tree of `texts`, each once; its ids number them. `each` applies a function to indices into
// `texts`, which gives their ids.
template <class Each>
void number_texts(TokenTrie::Tree& tree, const std::vector<std::string_view>& texts,
                  const Each& each) {
  std::vector<std::string_view> sorted = texts;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    tree.tokens.push_back(static_cast<TokenId>(i));
  build_tree(tree, [&](TokenId id) { return sorted[static_cast<std::size_t>(id)]; });
  each([&](std::uint32_t i) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), texts[i]);
    return static_cast<std::uint32_t>(at - sorted.begin());
  });
}

}  // namespace

TokenTrie TokenTrie::make(std::span<const std::string_view> bytes, std::span<const TokenId> ends) {
  TokenTrie trie;
  trie.ends_.assign(ends.begin(), ends.end());
  trie.plain_bits_.resize((bytes.size() + 63) / 64);
  for (std::size_t id = 0; id < bytes.size(); ++id) {
    const bool is_end = trie.is_end(static_cast<TokenId>(id));
    const bool is_used = !bytes[id].empty() && bytes[id].size() <= kMaxTrieTokenBytes && !is_end;
    if (is_used) {
      const std::size_t mark = bytes[id].find_first_of("\"\\");
      const bool is_plain = is_plain_text(bytes[id]);
      const bool is_quoted =
          mark != std::string_view::npos && is_whole_plain_text(bytes[id].substr(0, mark));
      trie.arena_ += bytes[id];
      trie.longest_ = std::max(trie.longest_, bytes[id].size());
      (is_plain    ? trie.plain_
       : is_quoted ? trie.quoted_
                   : trie.others_)
          .tokens.push_back(static_cast<TokenId>(id));
      if (is_plain) trie.plain_bits_[id / 64] |= std::uint64_t{1} << (id % 64);
    }
    trie.begins_.push_back(static_cast<std::uint32_t>(trie.arena_.size()));
  }
  const auto its_bytes = [&](TokenId id) { return trie.bytes(id); };
  for (Tree* const tree : {&trie.plain_, &trie.quoted_, &trie.others_})
    build_tree(*tree, its_bytes);
  trie.build_behind();
  trie.build_names();
  trie.build_string_ends(trie.string_ends_[0], false);
  trie.build_string_ends(trie.string_ends_[1], true);
  return trie;
}

// Each once, in any order; the tree sorts them.
void TokenTrie::build_behind() {
  std::vector<std::string_view> texts;
  for (TokenId id = 0; id < size(); ++id) {
    const std::string_view text = bytes(id);
    // A whole token follows a value that ends where it begins.
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((i == 0 || may_end_value(static_cast<unsigned char>(text[i - 1]))) &&
          may_follow_value(static_cast<unsigned char>(text[i])))
        texts.push_back(text.substr(i));
    }
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (std::size_t i = 0; i < texts.size(); ++i)
    behind_.tokens.push_back(static_cast<TokenId>(i));
  build_tree(behind_, [&](TokenId id) { return texts[static_cast<std::size_t>(id)]; });
}

void TokenTrie::build_names() {
  std::vector<std::string_view> texts;
  std::size_t end = 0;
  for (const TokenId id : quoted_.tokens) {
    const std::string_view token = bytes(id);
    const auto name = decoded_name(token, end);
    if (!name) continue;
    const std::string_view text = token.substr(end);
    if (end == 0) {
      within_names_.push_back(id);
    } else if (text.empty()) {
      name_ends_[*name].push_back({.token = id, .behind = kNothing});
    } else if (may_leave_member(text)) {
      behind_members_.tokens.push_back(id);
    } else if (text[0] == ':' || text[0] == ' ' || text[0] == '\n' || text[0] == '\r' ||
               text[0] == '\t') {
      const auto at = static_cast<std::uint32_t>(texts.size());
      name_ends_[*name].push_back({.token = id, .behind = at});
      texts.push_back(text);
    }
  }
  build_tree(behind_members_, [&](TokenId id) { return bytes(id); });
  number_texts(behind_names_, texts, [&](const auto& renumber) {
    for (auto& [name, ends] : name_ends_) {
      for (NameEnd& its : ends) {
        if (its.behind != kNothing) its.behind = renumber(its.behind);
      }
    }
  });
}

void TokenTrie::build_string_ends(StringEnds& out, bool within_value) {
  std::vector<std::string_view> texts, far_texts;
  std::size_t end = 0;
  out.ids.assign(quoted_.tokens.size(), kNoEnd);
  for (std::size_t i = 0; i < out.ids.size(); ++i) {
    const std::string_view token = bytes(quoted_.tokens[i]);
    const auto rest = decoded_name(token, end);
    const std::string_view text = token.substr(end);
    if (!rest || end == 0) continue;
    if (!text.empty() && !may_follow_value(static_cast<unsigned char>(text[0]))) continue;
    if (!within_value) string_rests_[*rest].push_back(quoted_.tokens[i]);  // once of both
    if (text.empty()) {
      out.ids[i] = kNothing;
    } else if (goes_farther(text, within_value)) {
      const auto at = static_cast<std::uint32_t>(far_texts.size());
      out.far_ends.push_back({.token = quoted_.tokens[i], .behind = at});
      far_texts.push_back(text);
    } else {
      out.ids[i] = static_cast<std::uint32_t>(texts.size());
      texts.push_back(text);
    }
  }
  number_texts(out.farther, far_texts, [&](const auto& renumber) {
    for (NameEnd& its : out.far_ends)
      its.behind = renumber(its.behind);
  });
  number_texts(out.behind, texts, [&](const auto& renumber) {
    for (std::uint32_t& id : out.ids) {
      if (id < kNoEnd) id = renumber(id);
    }
  });
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
  for (const Tree* const tree : {&plain_, &quoted_, &others_}) {
    const TokenId its = longest_prefix(*tree, text);
    if (bytes(its).size() > bytes(longest).size()) longest = its;
  }
  return longest;
}

TokenId TokenTrie::longest_prefix(const Tree& tree, std::string_view text) const noexcept {
  TokenId longest = -1;
  std::size_t i = 0, end = tree.nodes.size();
  for (const char c : text) {
    while (i < end && tree.nodes[i].byte != static_cast<unsigned char>(c))
      i = tree.nodes[i].end;
    if (i >= end) break;
    const auto here = tree.tokens_at(tree.nodes[i]);
    if (!here.empty()) longest = here.front();
    end = tree.nodes[i].end;
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
