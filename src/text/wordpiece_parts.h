// What the loaders of WordPiece vocabularies share. Load time only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pre_tokenizer.h"
#include "text/wordpiece.h"

namespace wick {

Result<void> build_wordpiece(std::vector<ByteTrie::Key> starts,
                             std::vector<ByteTrie::Key> continuations, WordPieceModel& model);

// BertPreTokenizer: white space goes, each punctuation character is a piece.
Result<void> add_bert_splits(PreTokenizer& pre);

// A class of one character for patterns, "[\x{21}-\x{2f}…]": what Hugging Face's library takes for
// punctuation.
std::string punctuation_pattern();

// What a decoder does to the text of a token that stands behind another: " do not" becomes "
// don't", " ." becomes ".", and so on.
std::string cleaned_up(std::string text);

}  // namespace wick
