// Python's str methods, which keep the trust marks: a part of a text is as trusted as it was in the
// text, and text made from a character is as trusted as the character.
#pragma once

#include <span>
#include <string_view>

#include "chat/operators.h"
#include "chat/run.h"
#include "chat/text_builder.h"
#include "unicode/python_str.h"

namespace wick::jinja {

// Calls visit(character, its first byte) for each character of `text`; charges as in_slices() does.
template <class Visit>
void each_character(Run& run, std::string_view text, Rate rate, const Visit& visit) {
  in_slices(run, text, rate, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const CodePoint c = code_point(text, at);
      visit(c, at);
      at += c.size;
    }
  });
}

// The first `needle` at or behind byte `from`; npos if there is none. An empty needle is found at
// `from`. Each place that is looked at is charged.
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
  kTitle,       // str.title: after a letter lower, else title
  kWords,       // |title: after a blank, a hyphen and opening brackets upper, else lower
  kCapitalize,  // the first character title, the rest lower
  kSwap,
  kFold,
};

Value change_case(Run& run, const Text& text, Case to);

// As a row of a table.
template <Case to>
Value in_case(Run& run, const Value& value, std::span<const Value>) {
  return change_case(run, to_text(run, value), to);
}

// Whether the text has characters and each of them passes; `if_empty` where it has none.
template <class Holds>
bool all_of(Run& run, std::string_view text, const Holds& holds, bool if_empty = false) {
  bool all = if_empty || !text.empty();
  in_slices(run, text, Rate::kTables, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && all;) {
      const CodePoint c = code_point(text, at);
      all = holds(c.value);
      at += c.size;
    }
    return all;
  });
  return all;
}

// str.islower and str.isupper: a cased character, and none of the other case.
bool has_one_case(Run& run, std::string_view text, bool upper);

template <bool upper>
Value is_in_case(Run& run, const Value& value, std::span<const Value>) {
  return Value::of(has_one_case(run, to_text(run, value).bytes, upper));
}

// ljust ('<'), rjust ('>') and center ('^') with one character.
Value justify(Run& run, const Text& text, char align, std::int64_t width, const Text& fill);

// `n` times `fill` (trusted if it is), then or before `text`: ljust, rjust, center.
Value pad(Run& run, const Text& text, std::int64_t left, std::int64_t right, std::string_view fill,
          bool fill_is_trusted);

}  // namespace wick::jinja
