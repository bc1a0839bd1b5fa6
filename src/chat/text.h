// A string while a template runs: bytes that somebody else owns (the template, the context, the
// render's arena) and which of them the template itself wrote. Cutting one makes no copy.
// Immutable but for the cached character count; one thread, if it is not counted.
#pragma once

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

// The first of the spans that ends behind byte `at`.
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

}  // namespace wick::jinja
