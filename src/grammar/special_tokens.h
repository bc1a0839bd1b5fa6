// Control tokens as bytes, for constraints that want one. A control token has no text, so it is
// spelled by a byte that no text holds, and its id. Recognizers of text never allow that byte; a
// composition or a grammar that names a token does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "grammar/token_trie.h"
#include "text/tokenizer.h"

namespace wick::grammar {

inline constexpr char kSpecialByte = '\xFF';

// Its spelling, as kSpecialByte "[7]".
std::string special_token(TokenId id);

// The id of the control token of this name; nullopt if the vocabulary has none.
using TokenNames = std::function<std::optional<TokenId>(std::string_view name)>;
TokenNames names_of(const Tokenizer& tokenizer);

// The token's spelling if it is a control token, else `text` itself.
std::string marker(const Tokenizer& tokenizer, std::string_view text);

// All tokens of text, and the control tokens by their spelling.
TokenTrie trie_with_special_tokens(const Tokenizer& tokenizer);

}  // namespace wick::grammar
