// Shared parts of the GGUF loaders: the checked vocabulary and the special tokens. Load time only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pipeline.h"

namespace wick {

struct GgufVocab {
  std::vector<std::string_view> texts = {};  // views into the metadata
  std::vector<TokenKind> kinds = {};
  bool has_kinds = false;  // false: the file has no token_type, all are kNormal
  std::size_t total_bytes = 0;
};

Result<GgufVocab> read_gguf_vocab(const Metadata& meta);

// The types of tokens that GGUF and SentencePiece number alike; 0 stands in some old GGUF files for
// "not said".
std::optional<TokenKind> kind_of_type(std::int64_t type) noexcept;

// tokenizer.ggml.scores, of `n` tokens.
Result<std::vector<double>> read_scores(const Metadata& meta, std::size_t n);

// Replaces from left to right; inserted text is not searched again.
void replace_all(std::string& text, std::string_view from, std::string_view to);

Error corrupt_vocab(std::string what);
Error too_large_trie();                  // of a ByteTrie that cannot be built
Error collision(std::string_view what);  // `what` are made to collide in a hash table

// The byte that "<0xHH>" stands for.
std::optional<std::uint8_t> byte_of_token(std::string_view text) noexcept;
// Adds the token of the byte that `text` stands for, and returns that byte.
Result<std::uint8_t> add_byte_token(std::string_view text, Vocab& vocab);

// A text that is matched before the model runs must not be longer than kMaxAddedTokenBytes.
Result<void> check_added_text(std::string_view text, std::size_t id);

// The normalizer and the splits of a pre-tokenizer that is known by name.
Result<void> add_pre_tokenizer(const PreTokenizerInfo& info, TokenizerParts& parts);

struct SpecialDefaults {  // for keys that the file lacks
  bool adds_bos = false, adds_eos = false;
  TokenId bos = -1, eos = -1;
};

// Fills BOS, EOS, and the tokens before and after a text. Ids outside the vocabulary count as
// absent.
void fill_special_ids(const Metadata& meta, const SpecialDefaults& defaults, TokenizerParts& parts);

// Control, unknown and user-defined tokens become added tokens.
Result<void> fill_added_tokens(const Metadata& meta, const GgufVocab& gguf, TokenizerParts& parts);

// The families with a file of their own ("t5", "bert").
Result<void> fill_gguf_unigram(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts);
Result<void> fill_gguf_wordpiece(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts);

}  // namespace wick
