// The questions that Python 3.11's str asks about characters (Unicode 14), for templates. Text is
// UTF-8; a byte that belongs to no character counts as one of its own, with no properties. Pure
// functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wick {

struct CodePoint {
  char32_t value = 0;    // kInvalid + byte for a byte that belongs to no character
  std::size_t size = 1;  // bytes it takes
};

inline constexpr char32_t kInvalidByte = 0x110000;

// The character at text[at]; `at` must lie inside.
CodePoint code_point(std::string_view text, std::size_t at) noexcept;

// The start of the last character of text[0, end), end > 0.
std::size_t before(std::string_view text, std::size_t end) noexcept;

std::size_t count_code_points(std::string_view text) noexcept;

// The byte where character `index` starts; text.size() if there are not as many.
std::size_t byte_of(std::string_view text, std::size_t index) noexcept;

// Whether `code` is a number of a character: no half of a surrogate pair, which UTF-8 cannot hold.
bool is_character(std::int64_t code) noexcept;
void append_code(std::string& out, char32_t value);  // an invalid byte goes back as it came

bool is_space(char32_t c) noexcept;  // str.isspace, and what strip() takes away
bool is_alpha(char32_t c) noexcept;
bool is_decimal(char32_t c) noexcept;
bool is_digit(char32_t c) noexcept;
bool is_numeric(char32_t c) noexcept;
bool is_lower(char32_t c) noexcept;
bool is_upper(char32_t c) noexcept;
bool is_title(char32_t c) noexcept;
bool is_cased(char32_t c) noexcept;
bool is_case_ignorable(char32_t c) noexcept;
bool is_printable(char32_t c) noexcept;
bool is_word(char32_t c) noexcept;  // \w of Python's re
bool is_identifier(std::string_view text) noexcept;

// Full case mapping as str.upper() etc. do it: 'ß' becomes "SS".
void append_upper(std::string& out, char32_t c);
void append_lower(std::string& out, char32_t c);
void append_title(std::string& out, char32_t c);
void append_folded(std::string& out, char32_t c);  // str.casefold()

}  // namespace wick
