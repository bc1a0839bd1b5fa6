// How UTF-8 is cut into characters. Any thread.
#pragma once

#include <string_view>

namespace wick {

// How the sequence at the start of `text`, which is not empty, stands: its length if whole, 0 if it
// may still become whole, and minus the length of its maximal invalid part otherwise (Unicode 15,
// §3.9, table 3-7).
int utf8_sequence(std::string_view text) noexcept;

// Characters of `text`; a byte that is not UTF-8 may count for none.
std::size_t count_characters(std::string_view text) noexcept;

// The character of a whole sequence.
char32_t utf8_character(std::string_view sequence) noexcept;

}  // namespace wick
