// Greedy longest match of words, as BERT has it: the longest token that a word starts with, then
// the longest one that goes on, and so forth; a word that cannot be covered is unknown as a whole.
// Immutable after build(), any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/byte_trie.h"
#include "text/pre_tokenizer.h"
#include "text/vocab.h"

namespace wick {

class WordPieceModel {
 public:
  struct Scratch {};

  // Filled by a loader.
  TokenId unknown = -1;              // -1: what has no token is left out
  std::size_t max_word_chars = 100;  // a longer word is unknown

  // `starts`: the tokens that start a word. `continuations`: those inside of a word, without their
  // "##". Returns false if they are too large for the tries.
  bool build(std::vector<ByteTrie::Key> starts, std::vector<ByteTrie::Key> continuations) {
    return start_trie_.build(std::move(starts)) &&
           continuation_trie_.build(std::move(continuations));
  }

  // Appends the ids of a word.
  void encode(std::string_view word, const Vocab& vocab, Scratch& scratch,
              std::vector<TokenId>& out) const;

 private:
  ByteTrie start_trie_ = {}, continuation_trie_ = {};
};

// A token for each piece, or none.
class WordLevelModel {
 public:
  struct Scratch {};

  TokenId unknown = -1;  // -1: what has no token is left out
  // A piece is cut before each "▁", and neighboring unknown parts become one (SentencePiece).
  bool cuts_before_mark = false;

  bool build(std::vector<ByteTrie::Key> words) { return trie_.build(std::move(words)); }

  void encode(std::string_view word, const Vocab& vocab, Scratch& scratch,
              std::vector<TokenId>& out) const;

 private:
  TokenId find(std::string_view word) const noexcept;

  ByteTrie trie_ = {};
};

// --- For loaders -------------------------------------------------------------------------------

// BertPreTokenizer: white space goes, each punctuation character is a piece.
Result<void> add_bert_splits(PreTokenizer& pre);

// A character class for patterns, "[\x{21}-\x{2f}…]": the punctuation characters of Hugging Face's
// library.
std::string punctuation_pattern();

// Cleans up the text of a token after another token, as WordPiece's decoder does: " do not" becomes
// " don't", " ." becomes ".", and so on.
std::string cleaned_up(std::string text);

}  // namespace wick
