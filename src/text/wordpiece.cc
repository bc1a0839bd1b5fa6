#include "text/wordpiece.h"

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "text/gguf_vocab.h"
#include "unicode/classes.h"

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
    const std::size_t end = std::min(word.find(kSpaceMark, 1), word.size());
    const TokenId id = find(word.substr(0, end));
    if (id >= 0 && (id != unknown || last != unknown)) out.push_back(id);
    last = id;
    word.remove_prefix(end);
  }
}

namespace {

std::string escaped(char32_t code) {
  std::string out = "\\x{";
  append_hex(out, code, 6);
  return out + "}";
}

}  // namespace

std::string punctuation_pattern() {
  std::string pattern = "[";
  for (const CharRange& range : punctuation()) {
    pattern += escaped(range.first);
    if (range.last > range.first) pattern += cat("-", escaped(range.last));
  }
  return pattern + "]";
}

Result<void> add_bert_splits(PreTokenizer& pre) {
  WICK_TRY(Pattern space, Pattern::compile(R"(\s)"));
  pre.add({.pattern = std::move(space), .behavior = SplitBehavior::kRemoved});
  WICK_TRY(Pattern mark, Pattern::compile(punctuation_pattern()));
  pre.add({.pattern = std::move(mark)});
  return {};
}

std::string cleaned_up(std::string text) {
  constexpr auto kRows = std::to_array<std::pair<std::string_view, std::string_view>>({
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  });
  for (const auto& [from, to] : kRows)
    replace_all(text, from, to);
  return text;
}

}  // namespace wick
