// A string of a running template: borrowed bytes (of the template, the context or the render's
// arena), and marks for those that the template wrote. A substring is no copy. Immutable except the
// cached character count; one thread unless it is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/marked_text.h"

namespace wick::jinja {

enum class Trust : std::uint8_t { kNone, kAll, kMixed };

struct Text {
  std::string_view bytes = {};
  Trust trust = Trust::kNone;
  bool is_markup = false;  // went through |safe or |escape: + and % escape the other side
  mutable std::int64_t n_chars = -1;   // −1: not counted yet; those of the template are
  std::span<const Span> trusted = {};  // kMixed: ascending, not touching, within `bytes`
};

// a == b for texts that are mostly short, as names and roles are.
inline bool is_same(std::string_view a, std::string_view b) noexcept {
  const std::size_t n = a.size();
  if (n != b.size()) return false;
  if (n > 16) return std::memcmp(a.data(), b.data(), n) == 0;
  const auto differ = [&]<class T>(T x, T y) {  // at the start and at the end, which may overlap
    std::memcpy(&x, a.data(), sizeof x);
    std::memcpy(&y, b.data(), sizeof y);
    if (x != y) return true;
    std::memcpy(&x, a.data() + n - sizeof x, sizeof x);
    std::memcpy(&y, b.data() + n - sizeof y, sizeof y);
    return x != y;
  };
  if (n >= 8) return !differ(std::uint64_t{}, std::uint64_t{});
  if (n >= 4) return !differ(std::uint32_t{}, std::uint32_t{});
  if (n >= 2) return !differ(std::uint16_t{}, std::uint16_t{});
  return n == 0 || a[0] == b[0];
}

// The first span that ends after byte `at`.
std::span<const Span>::iterator first_span_behind(std::span<const Span> spans,
                                                  std::size_t at) noexcept;

// Whether every byte of [begin, end) is trusted.
bool is_trusted(const Text& text, std::size_t begin, std::size_t end) noexcept;

// The same for pieces that come in ascending order: all of them together take one walk.
class TrustCursor {
 public:
  explicit TrustCursor(const Text& text) noexcept : text_(text) {}

  bool is_trusted(std::size_t begin, std::size_t end) noexcept {
    if (text_.trust != Trust::kMixed) return text_.trust == Trust::kAll;
    while (at_ < text_.trusted.size() && text_.trusted[at_].end <= begin)
      ++at_;
    return at_ < text_.trusted.size() && text_.trusted[at_].begin <= begin &&
           end <= text_.trusted[at_].end;
  }

 private:
  const Text& text_;
  std::size_t at_ = 0;
};

class Run;

// Texts that grow in a loop: {% set ns.out = ns.out ~ piece %}. Problem: texts are immutable, so
// each step copies the whole text, and n steps take n² work and memory. Solution: a copy gets a
// buffer of twice its size. If the text of the next step ends at the end of its buffer's content,
// only the piece is appended. Older texts share the bytes and do not see those after their end.
// Nothing is overwritten, except the end of a trusted span that is continued: readers of spans cut
// them at the text's end. Work and memory of n steps: O(bytes of the result). One for each run.
class GrowingTexts {
 public:
  static constexpr std::size_t kLeast = 1024;  // bytes from which on a text is worth it

  // a + b as bytes and marks; is_markup is not set.
  void join(Run& run, const Text& a, const Text& b, Text& out);

 private:
  struct Buffer {
    char* bytes = nullptr;
    std::size_t size = 0, room = 0;
    Span* spans = nullptr;
    std::size_t n_spans = 0, span_room = 0;
  };

  Buffer* continued_by(const Text& text) noexcept;
  static void add_bytes(Run& run, Buffer& to, std::string_view bytes);
  static void add_spans(Run& run, Buffer& to, const Text& text, std::size_t at);

  Buffer buffers_[4] = {};  // several texts may grow in turns
  std::size_t next_ = 0;    // the one that is given up for a new text
};

}  // namespace wick::jinja
