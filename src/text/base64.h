// Base64 as RFC 4648 §4 has it: with padding, without line ends. Pure function.
#pragma once

#include <string>
#include <string_view>

namespace wick {

// Appends the bytes that `text` stands for; false (with `out` as it was) if it is no base64.
bool append_base64(std::string& out, std::string_view text);

}  // namespace wick
