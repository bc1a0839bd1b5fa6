// SentencePiece's table of replacements ("precompiled charsmap"): byte strings and what they
// become, such as "ﬁ" → "fi". Foreign bytes in the layout of Darts' double array, which every
// look-up checks its steps against. Immutable, any thread. docs/formats/sentencepiece.md draws it.
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
  // Of the bytes in a file; none at all replace nothing.
  static Result<Charsmap> parse(std::string_view bytes);

  struct Match {
    std::size_t bytes = 0;       // of the text; 0: nothing is to be replaced
    std::string_view text = {};  // by this
  };

  // What `text` starts with, in the longest and in the shortest way.
  Match longest(std::string_view text) const noexcept;
  Match shortest(std::string_view text) const noexcept;

  // Whether something that starts with `byte` may be replaced.
  bool may_start(char byte) const noexcept { return starts_[static_cast<unsigned char>(byte)]; }

  // At most so many bytes for each byte that is replaced, at least 1.
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

// As Hugging Face's Precompiled replaces: by grapheme clusters of up to five bytes, or else by
// single characters; the shortest entry that a cluster starts with replaces all of it.
NormalizerStepPtr make_precompiled(Charsmap map);

// As SentencePiece normalizes a text: the longest entry at each place, then white space.
struct SentencePieceNormalisation {
  Charsmap map = {};
  ByteTrie kept = {};  // user-defined symbols, which stay as they are
  bool adds_prefix = true;
  bool removes_extra_spaces = true;
  bool escapes_spaces = true;     // a space becomes "▁"
  bool is_prefix_behind = false;  // the added space stands at the end
};

NormalizerStepPtr make_sentencepiece(SentencePieceNormalisation how);

}  // namespace wick
