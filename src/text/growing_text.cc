#include "text/growing_text.h"

#include <algorithm>

namespace wick {
namespace {

// `text` without its first `bytes`.
void drop_front(MarkedText& text, std::size_t bytes) {
  text.text.erase(0, bytes);
  std::size_t kept = 0;
  for (const Span& span : text.trusted) {
    if (span.end <= bytes) continue;
    text.trusted[kept++] = {std::max(span.begin, bytes) - bytes, span.end - bytes};
  }
  text.trusted.resize(kept);
}

}  // namespace

void GrowingText::append(std::string_view part, bool is_trusted) {
  text_.append(part, is_trusted);
}

void GrowingText::append(const MarkedText& part) {
  const std::string_view text = part.text;
  std::size_t at = 0;
  for (const Span& span : part.trusted) {
    append(text.substr(at, span.begin - at), false);
    append(text.substr(span.begin, span.end - span.begin), true);
    at = span.end;
  }
  append(text.substr(at), false);
}

Result<void> GrowingText::settle() {
  ids_.resize(n_settled_);
  // A long piece without an end would be looked through again for each part that is appended.
  if (open_bytes() < next_try_) return {};
  const std::size_t before = point_.at;
  WICK_TRY(point_, tokenizer_->encode_settled(text_, point_, ids_));
  n_settled_ = ids_.size();
  next_try_ = point_.at > before ? 0 : 2 * open_bytes();
  const std::size_t kept = point_.taken + kEncodeContext;
  if (point_.at > kept) {
    drop_front(text_, point_.at - kept);
    point_.at = kept;
  }
  return {};
}

Result<std::span<const TokenId>> GrowingText::ids() {
  WICK_DO(settle());
  WICK_DO(tokenizer_->encode_rest(text_, point_, ids_));
  return std::span<const TokenId>(ids_);
}

Result<std::span<const TokenId>> GrowingText::settled() {
  WICK_DO(settle());
  return std::span<const TokenId>(ids_).first(n_settled_);
}

void GrowingText::forget_settled() noexcept {
  ids_.clear();
  n_settled_ = 0;
}

}  // namespace wick
