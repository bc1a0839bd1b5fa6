// Byte-pair encoding of one piece of text: symbols (bytes, or characters) that merge pair by pair,
// the earliest-learned pair first and the leftmost among equals, as Hugging Face's BPE model does.
// Merges come from a table of pairs or, as in SentencePiece, from the score of the token that two
// symbols spell together. Immutable after prepare(), any thread; the scratch belongs to one call.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "text/byte_trie.h"
#include "text/pair_table.h"
#include "text/string_index.h"
#include "text/vocab.h"
#include "text/word_cache.h"

namespace wick {

inline constexpr std::size_t kShortPiece = 64;  // symbols, a bit for each in a word

struct BpeScratch {
  struct Symbol {
    TokenId id = -1;
    std::int32_t prev = -1, next = -1;  // -1 = none
    std::uint32_t begin = 0, bytes = 0;
    std::uint32_t characters = 1;  // 0: may not merge
  };

  struct Candidate {  // a merge of symbol `at` and the next one; void if either has changed
    std::uint64_t key = 0;
    TokenId id = -1;
    std::int32_t at = 0;
    std::uint32_t bytes = 0;  // of the two together
  };

  struct Character {  // the bytes of one character, merged on their own
    char32_t code = 0;
    TokenId id = -1;              // -1: they stay apart
    std::uint32_t last_rank = 0;  // of the merges that this takes
  };

  std::vector<Symbol> symbols = {};
  std::vector<Candidate> sorted = {}, heap = {}, later = {};  // of merge_many
  std::vector<Character> characters = {};                     // a cache, by code
  std::string affixed = {};                                   // a character with prefix or suffix
  WordCache words = {};
};

class BpeModel {
 public:
  using Scratch = BpeScratch;
  enum class Alphabet : std::uint8_t { kBytes, kCharacters };

  // Filled by a loader.
  Alphabet alphabet = Alphabet::kBytes;
  bool ignore_merges = false;  // a whole piece that is a word is that token
  bool fuse_unknown = false;   // neighboring unknown characters become one token
  bool by_score = false;       // merge by scores, not by pairs
  // by_score, among equals: the leftmost, as in SentencePiece; otherwise the longer left half, as
  // Hugging Face orders the merges that it derives from scores.
  bool is_leftmost_first = false;
  TokenId unknown = -1;  // -1: text without a token is dropped
  ByteIds byte_ids = no_byte_ids();
  PairTable pairs = {};
  std::vector<std::uint32_t> ranks = {};  // by_score: of each token, the best score is 0
  StringIndex words = {};                 // of texts as they are spelled (with "▁" for a space)
  ByteTrie kept = {};                     // kCharacters: symbols that never merge
  // kCharacters: the prefix of all characters of a piece but the first ("##"), and the suffix of
  // the last one ("</w>").
  std::string continuing_prefix = {}, end_suffix = {};
  Vocab spelled = {};            // token texts if they differ from the vocabulary's; else empty
  std::size_t longest_word = 0;  // bytes

  // Derives what follows from the above; once, before the first encode().
  void prepare(const Vocab& vocab);

  // Appends the ids of `piece`. `vocab` is the tokenizer's.
  void encode(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
              std::vector<TokenId>& out) const;
  // The token spelled `text`, -1 if there is none.
  TokenId find(std::string_view text, const Vocab& vocab) const noexcept;

 private:
  void find_border_ranks(const Vocab& vocab);
  bool find_no_word_before_mark(const Vocab& vocab) const;

  void encode_word(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                   std::vector<TokenId>& out) const;
  void encode_new(std::string_view piece, const Vocab& vocab, BpeScratch& scratch,
                  std::vector<TokenId>& out) const;
  void fill_bytes(std::string_view piece, BpeScratch& scratch) const;
  bool encode_few(std::string_view piece, BpeScratch& scratch, std::vector<TokenId>& out) const;
  template <class Push>
  void split_bytes(std::string_view piece, BpeScratch& scratch, const Push& push) const;
  TokenId find_whole_character(std::string_view piece, std::size_t at, BpeScratch& scratch,
                               std::size_t& bytes) const;
  BpeScratch::Character whole_character(std::string_view bytes, char32_t code) const noexcept;
  void fill_characters(std::string_view piece, const Vocab& vocab, BpeScratch& scratch) const;
  std::string_view spelled_character(std::string_view piece, std::size_t at, std::size_t bytes,
                                     BpeScratch& scratch) const;
  void push_bytes(std::string_view piece, std::size_t at, std::size_t bytes, std::string_view text,
                  BpeScratch& scratch) const;
  void push_unknown(std::size_t begin, std::size_t bytes, BpeScratch& scratch) const;
  BpeScratch::Candidate candidate(std::string_view piece, const Vocab& vocab,
                                  const BpeScratch& scratch, std::int32_t at) const noexcept;
  void merge_few(std::span<TokenId> ids, std::vector<TokenId>& out) const;
  void merge_repeats(BpeScratch& scratch) const;
  bool merge_rank(std::uint32_t lowest, BpeScratch& scratch) const;
  void merge_many(std::string_view piece, const Vocab& vocab, BpeScratch& scratch) const;

  // kBytes. Lowest ranks of merges across the border of two characters, by the bytes on both sides:
  // of a part of a character with the text after it (leaving), and of the text before with a part
  // of a character (entering). Empty: not known.
  std::vector<std::uint32_t> leaving_ranks_ = {}, entering_ranks_ = {};
  // kCharacters: no token contains "▁" after another character, so a piece may be cut before each
  // "▁".
  bool cuts_before_mark_ = false;
  bool scores_repeat_ = false;  // by_score: two tokens have the same
};

// --- For loaders ---

// Prefetch distance in entries: tables of a vocabulary are larger than a cache.
inline constexpr TokenId kAhead = 16;

// Enters a token into model.words, by its spelling. Texts that repeat are an error unless
// `may_repeat`; then the first counts.
Result<void> add_word(TokenId id, bool may_repeat, const Vocab& vocab, BpeModel& model);

// model.byte_ids from the tokens of one byte.
void fill_byte_ids(const Vocab& vocab, BpeModel& model);

// Dense ranks from finite scores: the best is 0, equals share one.
std::vector<std::uint32_t> dense_ranks(std::span<const double> scores);

// Fills model.pairs as in tiktoken: two tokens merge if together they are a token, whose id is the
// rank. Byte-level; model.words and model.byte_ids must be filled.
Result<void> fill_pairs_by_rank(const Vocab& vocab, BpeModel& model);

}  // namespace wick
