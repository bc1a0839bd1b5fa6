#include "chat/text.h"

#include <algorithm>

namespace wick::jinja {
namespace {

// The first of the spans that ends behind `at`.
auto first_behind(std::span<const Span> spans, std::size_t at) noexcept {
  return std::upper_bound(spans.begin(), spans.end(), at,
                          [](std::size_t x, const Span& span) { return x < span.end; });
}

}  // namespace

void append(MarkedText& out, const Text& text, std::size_t begin, std::size_t end) {
  if (text.trust != Trust::kMixed) {
    out.append(text.bytes.substr(begin, end - begin), text.trust == Trust::kAll);
    return;
  }
  std::size_t at = begin;
  for (auto span = first_behind(text.trusted, begin);
       span != text.trusted.end() && span->begin < end; ++span) {
    const std::size_t from = std::max(span->begin, at);
    const std::size_t to = std::min(span->end, end);
    out.append(text.bytes.substr(at, from - at), false);
    out.append(text.bytes.substr(from, to - from), true);
    at = to;
  }
  out.append(text.bytes.substr(at, end - at), false);
}

void append(MarkedText& out, const Text& text) {
  append(out, text, 0, text.bytes.size());
}

bool is_trusted(const Text& text, std::size_t begin, std::size_t end) noexcept {
  if (text.trust != Trust::kMixed) return text.trust == Trust::kAll;
  const auto span = first_behind(text.trusted, begin);
  return span != text.trusted.end() && span->begin <= begin && end <= span->end;
}

}  // namespace wick::jinja
