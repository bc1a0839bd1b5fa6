// Prompts of a gap between two texts, with the control tokens that a model has for it. Immutable;
// any thread.
//
//   const InfillTokens tokens = find_infill_tokens(metadata, tokenizer);
//   WICK_TRY(const InfillPrompt prompt, infill_prompt({.prefix = "a(", .suffix = ")"}, tokens,
//                                                     tokenizer));
#pragma once

#include "base/result.h"
#include "format/metadata.h"
#include "provider/infill.h"
#include "text/tokenizer.h"

namespace wick {

// -1: the model has none.
struct InfillTokens {
  TokenId prefix = -1, suffix = -1, middle = -1;  // before each of the three
  TokenId project = -1, file = -1;                // before the name of each
  TokenId padding = -1;

  bool is_complete() const noexcept { return prefix >= 0 && suffix >= 0 && middle >= 0; }
};

// From the keys of the file, else by the names that control tokens have in known models.
InfillTokens find_infill_tokens(const Metadata& metadata, const Tokenizer& tokenizer);

// kUnsupported, id "infill_unsupported", if the tokens are not complete.
Result<InfillPrompt> infill_prompt(const Infill& gap, const InfillTokens& tokens,
                                   const Tokenizer& tokenizer);

}  // namespace wick
