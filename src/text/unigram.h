// A unigram language model over pieces (T5, XLM-R, ALBERT, Gemma's relatives): each token has a
// score, and a text becomes the row of tokens with the highest sum. Immutable after build(), any
// thread; the scratch belongs to one call.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"
#include "text/vocab.h"
#include "text/word_cache.h"

namespace wick {

class UnigramModel {
 public:
  // The best way to the place behind a byte: its score, its last token, and where that starts.
  template <class Real>
  struct Way {
    Real score = 0;
    TokenId id = -1;
    std::uint32_t begin = 0;
  };

  struct Scratch {
    std::vector<Way<double>> ways = {};
    std::vector<Way<float>> ways_single = {};
    std::vector<std::uint32_t> ends = {};  // of the tokens on the best way, the last one first
    WordCache words = {};
  };

  // Filled by a loader.
  std::vector<double> scores = {};  // by id; finite
  double lowest_score = 0;          // of the tokens that set the score of an unknown character
  TokenId unknown = -1;             // -1: text without a token is dropped
  // Sums are single precision, as SentencePiece has them; Hugging Face's library has double.
  bool is_single = false;
  ByteIds byte_ids = no_byte_ids();

  // `keys`: the texts of the tokens that encode() may use. Returns false if they are too large for
  // the trie.
  bool build(std::vector<ByteTrie::Key> keys) { return trie_.build(std::move(keys)); }

  // Appends the ids of `piece`.
  void encode(std::string_view piece, const Vocab& vocab, Scratch& scratch,
              std::vector<TokenId>& out) const;

 private:
  template <class Real>
  void encode_new(std::string_view piece, std::vector<Way<Real>>& ways, Scratch& scratch,
                  std::vector<TokenId>& out) const;
  template <class Real>
  void find_best(std::string_view piece, std::vector<Way<Real>>& ways) const;
  void append_unknown(std::string_view text, std::vector<TokenId>& out) const;

  ByteTrie trie_ = {};
};

}  // namespace wick
