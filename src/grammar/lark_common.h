// Terminals of Lark's library `common`, as patterns (ECMA-262).
#pragma once

#include <string_view>

namespace wick::grammar {

// Empty if there is none of that name.
std::string_view lark_common(std::string_view name) noexcept;

}  // namespace wick::grammar
