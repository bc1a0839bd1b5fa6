#include "text/wordpiece.h"

#include <algorithm>

#include "base/utf8.h"

namespace wick {

void WordPieceModel::encode(std::string_view word, const Vocab& /*vocab*/, Scratch& /*scratch*/,
                            std::vector<TokenId>& out) const {
  const std::size_t before = out.size();
  bool is_covered = count_characters(word) <= max_word_chars;
  for (std::string_view rest = word; is_covered && !rest.empty();) {
    const ByteTrie& trie = rest.size() == word.size() ? start_trie_ : continuation_trie_;
    const ByteTrie::Match match = trie.longest(rest);
    is_covered = match.bytes > 0;
    if (is_covered) out.push_back(match.number);
    rest.remove_prefix(match.bytes);
  }
  if (is_covered) return;
  out.resize(before);
  if (unknown >= 0) out.push_back(unknown);
}

TokenId WordLevelModel::find(std::string_view word) const noexcept {
  const ByteTrie::Match match = trie_.longest(word);
  return match.bytes == word.size() ? match.number : unknown;
}

void WordLevelModel::encode(std::string_view word, const Vocab& /*vocab*/, Scratch& /*scratch*/,
                            std::vector<TokenId>& out) const {
  if (!cuts_before_mark) {
    if (const TokenId id = find(word); id >= 0) out.push_back(id);
    return;
  }
  TokenId last = -1;
  while (!word.empty()) {
    const std::size_t end = std::min(word.find("▁", 1), word.size());
    const TokenId id = find(word.substr(0, end));
    if (id >= 0 && (id != unknown || last != unknown)) out.push_back(id);
    last = id;
    word.remove_prefix(end);
  }
}

}  // namespace wick
