// What each token stands for: bytes and kind, in one arena. Built by a loader, then immutable.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/table_memory.h"
#include "text/tokenizer.h"

namespace wick {

inline constexpr std::string_view kSpaceMark = "▁";  // SentencePiece's spelling of a space

// Whether merges may produce a token of this kind. They must not produce control tokens.
constexpr bool is_word_kind(TokenKind kind) noexcept {
  return kind == TokenKind::kNormal || kind == TokenKind::kUnused;
}

// The token of each byte, -1 where there is none.
using ByteIds = std::array<TokenId, 256>;

constexpr ByteIds no_byte_ids() {
  ByteIds ids{};
  for (TokenId& id : ids) {
    id = -1;
  }
  return ids;
}

class Vocab {
 public:
  void reserve(std::size_t tokens, std::size_t bytes) {
    tokens_.reserve(tokens);
    arena_.reserve(bytes);
  }

  // The next token; the arena of all of them stays below 4 GiB (kMaxVocabBytes sees to that).
  void add(std::string_view bytes, TokenKind kind) {
    arena_ += bytes;
    seal(kind);
  }

  // The same for a text that was appended to arena() directly.
  void seal(TokenKind kind) {
    const std::uint32_t begin = tokens_.empty() ? 0 : tokens_.back().begin + tokens_.back().bytes;
    tokens_.push_back({.begin = begin,
                       .bytes = static_cast<std::uint32_t>(arena_.size() - begin) & kMaxBytes,
                       .kind = static_cast<std::uint32_t>(kind) & 0xFFU});
  }

  // The bytes of a token that decoding shows, if they are at most 15: one load reads them all.
  struct alignas(16) ShortToken {
    static constexpr std::uint8_t kOther = 0xFF;
    std::array<char, 15> bytes = {};
    std::uint8_t n = kOther;  // kOther: longer, hidden, or no token
  };

  // Fills the table of short_token(). Call once, after the last token.
  void index_short_tokens() {
    short_.resize(tokens_.size());
    for (TokenId id = 0; id < size(); ++id) {
      const std::string_view from = bytes(id);
      ShortToken& to = short_[static_cast<std::size_t>(id)];
      if (from.size() > to.bytes.size() || is_hidden(id)) continue;
      std::copy(from.begin(), from.end(), to.bytes.begin());
      to.n = static_cast<std::uint8_t>(from.size());
    }
  }

  ShortToken short_token(TokenId id) const noexcept {
    return has(id) ? short_[static_cast<std::size_t>(id)] : ShortToken{};
  }

  std::string& arena() noexcept { return arena_; }

  void set_kind(TokenId id, TokenKind kind) {
    tokens_[static_cast<std::size_t>(id)].kind = static_cast<std::uint32_t>(kind) & 0xFFU;
  }

  int size() const noexcept { return static_cast<int>(tokens_.size()); }

  bool has(std::int64_t id) const noexcept { return id >= 0 && id < size(); }

  // `id` where there is such a token, else -1.
  TokenId checked(std::int64_t id) const noexcept {
    return has(id) ? static_cast<TokenId>(id) : TokenId{-1};
  }

  std::string_view bytes(TokenId id) const noexcept {
    if (!has(id)) return {};
    const Token& token = tokens_[static_cast<std::size_t>(id)];
    return {arena_.data() + token.begin, token.bytes};
  }

  // Of the kinds that decoding leaves out.
  bool is_hidden(TokenId id) const noexcept {
    const TokenKind k = kind(id);
    return k == TokenKind::kControl || k == TokenKind::kUnknown;
  }

  TokenKind kind(TokenId id) const noexcept {
    return has(id) ? static_cast<TokenKind>(tokens_[static_cast<std::size_t>(id)].kind)
                   : TokenKind::kUnused;
  }

 private:
  static constexpr std::uint32_t kMaxBytes = 0xFFFFFFU;  // of one token; kMaxTokenBytes is less

  struct Token {
    std::uint32_t begin;  // in arena_
    std::uint32_t bytes : 24, kind : 8;
  };

  std::string arena_ = {};
  std::vector<Token> tokens_ = {};
  std::vector<ShortToken, TableMemory<ShortToken>> short_ = {};
};

}  // namespace wick
