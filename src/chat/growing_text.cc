#include "chat/growing_text.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "chat/run.h"

namespace wick::jinja {

GrowingTexts::Buffer* GrowingTexts::continued_by(const Text& text) noexcept {
  for (Buffer& buffer : buffers_) {
    if (buffer.bytes == text.bytes.data() && buffer.size == text.bytes.size()) return &buffer;
  }
  return nullptr;
}

bool GrowingTexts::add_bytes(Run& run, Buffer& to, std::string_view bytes) {
  if (bytes.size() > to.room - to.size) {
    to.room = 2 * (to.size + bytes.size());
    char* const larger = run.array<char>(to.room);
    if (!run.charge(to.size, Rate::kCopy)) return false;
    std::copy_n(to.bytes, to.size, larger);
    to.bytes = larger;
  }
  if (!run.charge(1 + bytes.size() / 64)) return false;
  std::copy(bytes.begin(), bytes.end(), to.bytes + to.size);
  to.size += bytes.size();
  return true;
}

// The spans of `text`, which begins at byte `at`.
bool GrowingTexts::add_spans(Run& run, Buffer& to, const Text& text, std::size_t at) {
  const Span all = {0, text.bytes.size()};
  const std::span<const Span> spans = text.trust == Trust::kMixed ? text.trusted
                                      : text.trust == Trust::kAll ? std::span(&all, 1)
                                                                  : std::span<const Span>();
  if (spans.size() > to.span_room - to.n_spans) {
    to.span_room = 2 * (to.n_spans + spans.size());
    Span* const larger = run.array<Span>(to.span_room);
    if (!run.charge(to.n_spans)) return false;
    std::uninitialized_copy_n(to.spans, to.n_spans, larger);
    to.spans = larger;
  }
  if (!run.charge(spans.size())) return false;
  for (const Span& span : spans) {
    const std::size_t end = std::min(span.end, text.bytes.size());
    if (to.n_spans > 0 && to.spans[to.n_spans - 1].end == at + span.begin) {
      to.spans[to.n_spans - 1].end = at + end;
    } else {
      ::new (to.spans + to.n_spans++) Span{at + span.begin, at + end};
    }
  }
  return true;
}

bool GrowingTexts::join(Run& run, const Text& a, const Text& b, Text& out) {
  Buffer* to = continued_by(a);
  if (to == nullptr) {
    to = &buffers_[next_];
    next_ = (next_ + 1) % std::size(buffers_);
    *to = {};
    if (!add_bytes(run, *to, a.bytes) || !add_spans(run, *to, a, 0)) return false;
  }
  const std::size_t at = to->size;
  if (!add_bytes(run, *to, b.bytes) || !add_spans(run, *to, b, at)) return false;
  out.bytes = {to->bytes, to->size};
  out.trusted = {to->spans, to->n_spans};
  const bool is_all = to->n_spans == 1 && to->spans[0].begin == 0 && to->spans[0].end == to->size;
  out.trust = to->n_spans == 0 ? Trust::kNone : is_all ? Trust::kAll : Trust::kMixed;
  return true;
}

}  // namespace wick::jinja
