#include "chat/text.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "chat/run.h"
#include "chat/text_builder.h"

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

void TextBuilder::append_mixed(const Text& text, std::size_t begin, std::size_t end) {
  const auto spans = text.trusted;
  run_->charge(4);  // the search
  std::size_t at = begin;
  for (auto span = first_span_behind(spans, begin); span != spans.end() && span->begin < end;
       ++span) {
    const std::size_t from = std::max(span->begin, at);
    const std::size_t to = std::min(span->end, end);
    append(text.bytes.substr(at, from - at), false);
    append(text.bytes.substr(from, to - from), true);
    at = to;
  }
  append(text.bytes.substr(at, end - at), false);
}

void TextBuilder::append_repeated(std::string_view part, std::size_t n, bool is_trusted) {
  if (n == 0 || part.empty()) return;
  run_->need_room(n, part.size());
  run_->charge(part.size() == 1 ? 1 : n);
  run_->charge(n * part.size(), Rate::kCopy);
  if (is_trusted) mark(n * part.size());
  if (part.size() == 1) {
    text_.append(n, part[0]);
    return;
  }
  text_.reserve(text_.size() + n * part.size());
  for (std::size_t i = 0; i < n; ++i)
    text_ += part;
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

GrowingTexts::Buffer* GrowingTexts::continued_by(const Text& text) noexcept {
  for (Buffer& buffer : buffers_) {
    if (buffer.bytes == text.bytes.data() && buffer.size == text.bytes.size()) return &buffer;
  }
  return nullptr;
}

void GrowingTexts::add_bytes(Run& run, Buffer& to, std::string_view bytes) {
  if (bytes.size() > to.room - to.size) {
    to.room = 2 * (to.size + bytes.size());
    char* const larger = run.array<char>(to.room);
    run.charge(to.size, Rate::kCopy);
    std::copy_n(to.bytes, to.size, larger);
    to.bytes = larger;
  }
  run.charge(1 + bytes.size() / 64);
  std::copy(bytes.begin(), bytes.end(), to.bytes + to.size);
  to.size += bytes.size();
}

// The spans of `text`, which begins at byte `at`.
void GrowingTexts::add_spans(Run& run, Buffer& to, const Text& text, std::size_t at) {
  const Span all = {0, text.bytes.size()};
  const std::span<const Span> spans = text.trust == Trust::kMixed ? text.trusted
                                      : text.trust == Trust::kAll ? std::span(&all, 1)
                                                                  : std::span<const Span>();
  if (spans.size() > to.span_room - to.n_spans) {
    to.span_room = 2 * (to.n_spans + spans.size());
    Span* const larger = run.array<Span>(to.span_room);
    run.charge(to.n_spans);
    std::uninitialized_copy_n(to.spans, to.n_spans, larger);
    to.spans = larger;
  }
  run.charge(spans.size());
  for (const Span& span : spans) {
    const std::size_t end = std::min(span.end, text.bytes.size());
    if (to.n_spans > 0 && to.spans[to.n_spans - 1].end == at + span.begin) {
      to.spans[to.n_spans - 1].end = at + end;
    } else {
      ::new (to.spans + to.n_spans++) Span{at + span.begin, at + end};
    }
  }
}

void GrowingTexts::join(Run& run, const Text& a, const Text& b, Text& out) {
  Buffer* to = continued_by(a);
  if (to == nullptr) {
    to = &buffers_[next_];
    next_ = (next_ + 1) % std::size(buffers_);
    *to = {};
    add_bytes(run, *to, a.bytes);
    add_spans(run, *to, a, 0);
  }
  const std::size_t at = to->size;
  add_bytes(run, *to, b.bytes);
  add_spans(run, *to, b, at);
  out.bytes = {to->bytes, to->size};
  out.trusted = {to->spans, to->n_spans};
  const bool is_all = to->n_spans == 1 && to->spans[0].begin == 0 && to->spans[0].end == to->size;
  out.trust = to->n_spans == 0 ? Trust::kNone : is_all ? Trust::kAll : Trust::kMixed;
}

}  // namespace wick::jinja
