// SentencePiece's description of a tokenizer, from a tokenizer.model or from GGUF's keys, and its
// conversion to TokenizerParts. Load time only.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pipeline.h"

namespace wick {

struct SentencePieceSpec {
  enum class Model : std::uint8_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

  struct Piece {
    std::string_view text = {};  // with "▁" for a space
    float score = 0;
    TokenKind kind = TokenKind::kNormal;
  };

  Model model = Model::kUnigram;
  std::vector<Piece> pieces = {};
  bool has_byte_fallback = false;
  std::string_view charsmap = {};
  bool adds_prefix = true, removes_extra_spaces = true, escapes_spaces = true;
  bool is_prefix_behind = false;
};

// Vocabulary, model, normalizer and decoding; control tokens are appended to `added`. The model
// (not AddedTokens) handles user-defined symbols, as in SentencePiece: it never splits them.
Result<void> fill_sentencepiece(const SentencePieceSpec& spec, TokenizerParts& parts,
                                std::vector<AddedToken>& added);

// `text` with a space for each "▁".
std::string with_spaces(std::string_view spelled);

}  // namespace wick
