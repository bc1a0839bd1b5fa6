// Base64 of RFC 4648 §4, with padding and without line ends. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wick {

void append_base64(std::string& out, std::span<const std::byte> bytes);

// Decodes `text` and appends the bytes. Returns false, and leaves `out` unchanged, if it is not
// valid base64.
bool append_from_base64(std::string& out, std::string_view text);

}  // namespace wick
