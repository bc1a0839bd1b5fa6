#include "chat/text.h"

#include <algorithm>

namespace wick::jinja {

std::span<const Span>::iterator first_span_behind(std::span<const Span> spans,
                                                  std::size_t at) noexcept {
  return std::upper_bound(spans.begin(), spans.end(), at,
                          [](std::size_t x, const Span& span) { return x < span.end; });
}

bool is_trusted(const Text& text, std::size_t begin, std::size_t end) noexcept {
  if (text.trust != Trust::kMixed) return text.trust == Trust::kAll;
  const auto span = first_span_behind(text.trusted, begin);
  return span != text.trusted.end() && span->begin <= begin && end <= span->end;
}

}  // namespace wick::jinja
