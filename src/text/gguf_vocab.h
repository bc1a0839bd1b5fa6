// What the GGUF loaders of the tokenizer families share: the checked vocabulary and the special
// tokens. Load time only.
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

Error corrupt_vocab(std::string what);

// The byte that "<0xHH>" stands for.
std::optional<std::uint8_t> byte_of_token(std::string_view text) noexcept;

struct SpecialDefaults {  // for keys that the file lacks
  bool adds_bos = false, adds_eos = false;
  TokenId bos = -1, eos = -1;
};

// BOS, EOS, and what is put around a text. Ids outside the vocabulary count as absent.
void fill_special_ids(const Metadata& meta, const SpecialDefaults& defaults, TokenizerParts& parts);

// Control, unknown and user-defined tokens become added tokens.
Result<void> fill_added_tokens(const Metadata& meta, const GgufVocab& gguf, TokenizerParts& parts);

// The families with a file of their own ("t5", "bert").
Result<void> fill_gguf_unigram(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts);
Result<void> fill_gguf_wordpiece(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts);

}  // namespace wick
