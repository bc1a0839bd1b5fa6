// Decoders that run on constants: backslash escapes, base64, hex, printf. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wick::shell {

// The inside of $'…'. The text ends at an escape that makes NUL, as in bash.
std::string decode_ansi(std::string_view text);

// As `echo -e` and printf's %b and format do. `*has_code` becomes true where an escape made a byte
// from a number: text that was hidden.
std::string decode_escapes(std::string_view text, bool* has_code);

std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view text);
std::optional<std::string> decode_base32(std::string_view text);
std::optional<std::string> decode_hex(std::string_view text);  // blanks and newlines are skipped

// printf FORMAT ARGUMENTS…; nullopt where a conversion is not known.
std::optional<std::string> format_printf(std::string_view format,
                                         const std::vector<std::string>& arguments, bool* has_code);

// tr SET1 SET2 with ranges and escapes; nullopt for classes and other forms.
std::optional<std::string> translate(std::string_view text, std::string_view from,
                                     std::string_view to, bool deletes);

}  // namespace wick::shell
