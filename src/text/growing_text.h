// A text that grows at its end, and its token ids: those of the whole text, always, as one encode()
// of all of it would give them, for the price of encoding what is new and the last piece or two
// before it. A conversation keeps one; a text too large for the memory passes through one. One
// thread at a time; the tokenizer must outlive it.
//
//   GrowingText text(*tokenizer);
//   text.append("<|im_start|>user\n", true);
//   text.append(typed, false);
//   use(*text.ids());                      // all of them
//
//   text.append(next_megabyte, false);     // or, of an endless text:
//   use(*text.settled()); text.forget_settled();
//
// Errors are those of Tokenizer::encode(); the text is then of no more use.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/types.h"
#include "text/tokenizer.h"

namespace wick {

class GrowingText {
 public:
  explicit GrowingText(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  void append(std::string_view part, bool is_trusted);
  void append(const MarkedText& part);

  // The ids of the whole text; of what was not forgotten. Valid until the next call.
  Result<std::span<const TokenId>> ids();
  // Those at their front that no text to come can change; fewer than there could be, so that asking
  // often is cheap.
  Result<std::span<const TokenId>> settled();
  void forget_settled() noexcept;

  // Bytes of text that are kept because they are not settled.
  std::size_t open_bytes() const noexcept { return text_.text.size() - point_.at; }

 private:
  Result<void> settle();

  const Tokenizer* tokenizer_;
  MarkedText text_ = {};  // what is not settled, and the context before it
  EncodePoint point_ = {};
  std::size_t next_try_ = 0;       // open bytes, below which nothing more can be settled
  std::vector<TokenId> ids_ = {};  // settled ones, then, after ids(), those of the rest
  std::size_t n_settled_ = 0;
};

}  // namespace wick
