#include "text/wordpiece_parts.h"

#include <array>

#include "base/strings.h"
#include "unicode/classes.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"

namespace wick {
namespace {

std::string hex(char32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (auto rest = static_cast<std::uint32_t>(code); rest > 0; rest >>= 4U) {
    out.insert(out.begin(), kDigits[rest & 0xFU]);
  }
  return cat("\\x{", out, "}");
}

}  // namespace

Result<void> build_wordpiece(std::vector<ByteTrie::Key> starts,
                             std::vector<ByteTrie::Key> continuations, WordPieceModel& model) {
  if (model.build(std::move(starts), std::move(continuations))) return {};
  return corrupt_vocab(cat("its trie has more than ", kMaxTrieNodes, " nodes"));
}

std::string punctuation_pattern() {
  std::string pattern = "[";
  for (const CharRange& range : punctuation()) {
    pattern += hex(range.first);
    if (range.last > range.first) pattern += cat("-", hex(range.last));
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
  for (const auto& [from, to] : kRows) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

}  // namespace wick
