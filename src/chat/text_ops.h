// What Python's str methods do, with the marks of trust kept: a piece of a text is as trusted as
// the text was there, and text made from a character is as trusted as the character. Failures as
// everywhere: Run::fail.
#pragma once

#include <span>
#include <string_view>

#include "chat/run.h"
#include "chat/text_builder.h"

namespace wick::jinja {

// The first `needle` at or behind byte `from`; npos if there is none, or failed. An empty needle is
// found at `from`. Each place that is looked at is charged.
std::size_t find_forward(Run& run, std::string_view hay, std::string_view needle, std::size_t from);

// The last `needle` that ends at or before byte `end`; npos if there is none.
std::size_t find_backward(Run& run, std::string_view hay, std::string_view needle, std::size_t end);

// strip(): cuts the characters of `chars`, whitespace if null, from the chosen sides.
Value strip(Run& run, const Text& text, const Text* chars, bool left, bool right);

// split() and rsplit(): `separator` null means runs of whitespace; at most `max` cuts, −1: any.
Value split(Run& run, const Text& text, const Text* separator, std::int64_t max, bool from_right);

Value split_lines(Run& run, const Text& text, bool keep_ends);

// replace(): at most `max` times, −1: every time.
Value replace(Run& run, const Text& text, const Text& from, const Text& to, std::int64_t max);

// separator.join(parts); `parts` are all text.
Value join(Run& run, const Text& separator, std::span<const Text* const> parts);

enum class Case : std::uint8_t {
  kUpper,
  kLower,
  kTitle,       // str.title: behind a letter lower, else title
  kWords,       // |title: behind a blank, a hyphen and opening brackets upper, else lower
  kCapitalize,  // the first character title, the rest lower
  kSwap,
  kFold,
};

Value change_case(Run& run, const Text& text, Case to);

// `n` times `fill` (trusted if it is), then or before `text`: ljust, rjust, center.
Value pad(Run& run, const Text& text, std::int64_t left, std::int64_t right, std::string_view fill,
        bool fill_is_trusted);

}  // namespace wick::jinja
