// The values of `format` that are regular languages.
#pragma once

#include <optional>
#include <string_view>

#include "regex/expr.h"

namespace wick::grammar {

// The strings of a format; nothing if the format is not known, kNoExpr if the pool is full. Unknown
// formats are annotations: regex, idn-hostname and any other name. Any thread.
bool is_known_format(std::string_view name);
std::optional<regex::ExprId> format_language(regex::ExprPool& pool, std::string_view name);

}  // namespace wick::grammar
