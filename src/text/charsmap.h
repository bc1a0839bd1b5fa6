// SentencePiece's table of replacements ("precompiled charsmap"): byte strings and what they
// become, such as "ﬁ" → "fi". The bytes are foreign, in the layout of Darts' double array; every
// lookup checks each index. Immutable, any thread. docs/formats/sentencepiece.md describes the
// layout.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/byte_trie.h"
#include "text/normalizer.h"

namespace wick {

class Charsmap {
 public:
  // Parses the bytes of a file. An empty table replaces nothing.
  static Result<Charsmap> parse(std::string_view bytes);

  struct Match {
    std::size_t bytes = 0;       // of the text; 0: nothing is to be replaced
    std::string_view text = {};  // by this
  };

  // The longest and the shortest entry that `text` starts with.
  Match longest(std::string_view text) const noexcept;
  Match shortest(std::string_view text) const noexcept;

  // Whether an entry starts with `byte`.
  bool may_start(char byte) const noexcept { return starts_[static_cast<unsigned char>(byte)]; }

  // The largest number of bytes that replace one byte; at least 1.
  std::size_t growth() const noexcept { return growth_; }

 private:
  template <class Found>
  void prefixes(std::string_view text, const Found& found) const noexcept;
  std::string_view replacement(std::uint32_t at) const noexcept;
  void find_growth();

  std::vector<std::uint32_t> units_ = {};
  std::string replacements_ = {};  // each ends in a NUL
  std::vector<bool> starts_ = std::vector<bool>(256);
  std::size_t growth_ = 1;
};

// Replaces as Hugging Face's Precompiled does: by grapheme clusters of up to five bytes, else by
// single characters. The shortest entry that a cluster starts with replaces the whole cluster.
NormalizerStep make_precompiled(Charsmap map);

// As SentencePiece normalizes a text: the longest entry at each place, then white space.
struct SentencePieceNormalization {
  Charsmap map = {};
  ByteTrie kept = {};  // user-defined symbols, which stay as they are
  bool adds_prefix = true;
  bool removes_extra_spaces = true;
  bool escapes_spaces = true;     // a space becomes "▁"
  bool is_prefix_behind = false;  // the added space stands at the end
};

NormalizerStep make_sentencepiece(SentencePieceNormalization how);

}  // namespace wick
