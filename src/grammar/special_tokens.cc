#include "grammar/special_tokens.h"

#include <vector>

#include "base/strings.h"

namespace wick::grammar {

std::string special_token(TokenId id) {
  return cat(std::string(1, kSpecialByte), "[", id, "]");
}

TokenNames names_of(const Tokenizer& tokenizer) {
  return [&tokenizer](std::string_view name) -> std::optional<TokenId> {
    const auto ids = tokenizer.encode_special(name);
    if (!ids || ids->size() != 1 || tokenizer.bytes((*ids)[0]) != name) return std::nullopt;
    return (*ids)[0];
  };
}

std::string marker(const Tokenizer& tokenizer, std::string_view text) {
  const auto id = names_of(tokenizer)(text);
  const bool is_control = id && tokenizer.kind(*id) == TokenKind::kControl;
  return is_control ? special_token(*id) : std::string(text);
}

// Tokens of text with kSpecialByte are left out: no UTF-8 holds it.
TokenTrie trie_with_special_tokens(const Tokenizer& tokenizer) {
  const auto n = static_cast<std::size_t>(tokenizer.size());
  std::vector<std::string> spellings(n);
  std::vector<std::string_view> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto id = static_cast<TokenId>(i);
    const TokenKind kind = tokenizer.kind(id);
    if (kind == TokenKind::kControl) {
      spellings[i] = special_token(id);
      bytes[i] = spellings[i];
    } else if (kind == TokenKind::kNormal || kind == TokenKind::kUserDefined ||
               kind == TokenKind::kByte) {
      const std::string_view text = tokenizer.bytes(id);
      if (text.find(kSpecialByte) == std::string_view::npos) bytes[i] = text;
    }
  }
  return TokenTrie::make(bytes, tokenizer.ends());
}

}  // namespace wick::grammar
