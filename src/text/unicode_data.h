// Characters that Unicode gained after the tables of PCRE2 10.42 (Unicode 14), as Hugging Face's
// tokenizers 0.23.3 knows them (Unicode 16), for each general category, for the scripts of
// unicode_table.h, Emoji and Alphabetic.
#pragma once

#include <string_view>

namespace wick {

// The newer members of \p{`property`} as PCRE2 class items ("\x{1c89}-\x{1c8a}…"), often none.
std::string_view newer_characters(std::string_view property) noexcept;

}  // namespace wick
