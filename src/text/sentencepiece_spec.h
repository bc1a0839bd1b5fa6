// What SentencePiece says about a tokenizer, whether it stands in a tokenizer.model or under GGUF's
// keys, and the parts made of it. Load time only.
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

// Vocabulary, model, normalizer and decoding; control tokens are appended to `added`. User-defined
// symbols are the model's business, as in SentencePiece: they are kept whole in any text.
Result<void> fill_sentencepiece(const SentencePieceSpec& spec, TokenizerParts& parts,
                                std::vector<AddedToken>& added);

// A text with each "▁" as the space that it stands for.
std::string with_spaces(std::string_view spelled);

}  // namespace wick
