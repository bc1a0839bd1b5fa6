// A string while a template runs: bytes that somebody else owns (the template, the context, the
// render's arena) and which of them the template itself wrote. Cutting one makes no copy.
// Immutable but for the cached character count; one thread, if it is not counted.
#pragma once

#include <cstdint>
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

// Appends `text` with its marks.
void append(MarkedText& out, const Text& text);

// Appends bytes [begin, end) of `text` with their marks.
void append(MarkedText& out, const Text& text, std::size_t begin, std::size_t end);

// Whether every byte of [begin, end) is trusted.
bool is_trusted(const Text& text, std::size_t begin, std::size_t end) noexcept;

}  // namespace wick::jinja
