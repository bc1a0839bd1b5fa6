#include "chat/text_builder.h"

#include <algorithm>

namespace wick::jinja {

bool TextBuilder::append_mixed(const Text& text, std::size_t begin, std::size_t end) {
  const auto spans = text.trusted;
  if (!run_->charge(4)) return false;  // the search
  std::size_t at = begin;
  for (auto span = first_span_behind(spans, begin); span != spans.end() && span->begin < end;
       ++span) {
    const std::size_t from = std::max(span->begin, at);
    const std::size_t to = std::min(span->end, end);
    if (!append(text.bytes.substr(at, from - at), false) ||
        !append(text.bytes.substr(from, to - from), true)) {
      return false;
    }
    at = to;
  }
  return append(text.bytes.substr(at, end - at), false);
}

bool TextBuilder::append_repeated(std::string_view part, std::size_t n, bool is_trusted) {
  if (n == 0 || part.empty()) return !run_->failed();
  const std::size_t n_pieces = part.size() == 1 ? 1 : n;
  if (!run_->has_room(n, part.size()) || !run_->charge(n_pieces) ||
      !run_->charge(n * part.size(), Rate::kCopy)) {
    return false;
  }
  if (is_trusted) mark(n * part.size());
  if (part.size() == 1) {
    text_.append(n, part[0]);
    return true;
  }
  text_.reserve(text_.size() + n * part.size());
  for (std::size_t i = 0; i < n; ++i)
    text_ += part;
  return true;
}

void TextBuilder::clear() {
  constexpr std::size_t kMuch = std::size_t{64} << 10;
  if (text_.capacity() > kMuch || trusted_.capacity() > kMuch / sizeof(Span)) {
    *this = TextBuilder(*run_);
    return;
  }
  text_.clear();
  trusted_.clear();
}

}  // namespace wick::jinja
