// What each token stands for: bytes and kind, in one arena. Built by a loader, then immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"

namespace wick {

class Vocab {
 public:
  void reserve(std::size_t tokens, std::size_t bytes) {
    ends_.reserve(tokens);
    kinds_.reserve(tokens);
    arena_.reserve(bytes);
  }

  // The next token; the arena of all of them stays below 4 GiB (kMaxVocabBytes sees to that).
  void add(std::string_view bytes, TokenKind kind) {
    arena_ += bytes;
    seal(kind);
  }

  // The same for a text that was appended to arena() directly.
  void seal(TokenKind kind) {
    ends_.push_back(static_cast<std::uint32_t>(arena_.size()));
    kinds_.push_back(kind);
  }

  // So many bytes can be read from the start of any token, once pad() was called behind the last.
  static constexpr std::size_t kPadding = 16;

  void pad() { arena_.append(kPadding, '\0'); }

  std::string& arena() noexcept { return arena_; }

  void set_kind(TokenId id, TokenKind kind) { kinds_[static_cast<std::size_t>(id)] = kind; }

  int size() const noexcept { return static_cast<int>(kinds_.size()); }

  bool has(TokenId id) const noexcept { return id >= 0 && id < size(); }

  std::string_view bytes(TokenId id) const noexcept {
    if (!has(id)) return {};
    const auto i = static_cast<std::size_t>(id);
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {arena_.data() + begin, ends_[i] - begin};
  }

  // Of the kinds that decoding leaves out.
  bool is_hidden(TokenId id) const noexcept {
    const TokenKind k = kind(id);
    return k == TokenKind::kControl || k == TokenKind::kUnknown;
  }

  TokenKind kind(TokenId id) const noexcept {
    return has(id) ? kinds_[static_cast<std::size_t>(id)] : TokenKind::kUnused;
  }

 private:
  std::string arena_ = {};
  std::vector<std::uint32_t> ends_ = {};
  std::vector<TokenKind> kinds_ = {};
};

}  // namespace wick
