// One representative for all expressions that tokens of at most n bytes cannot distinguish.
#pragma once

#include <cstddef>

#include "regex/expr.h"

namespace wick::grammar {

// Returns an expression that is equivalent to `state` for the next `max_bytes` bytes: after each of
// them both are empty or neither is, and both contain the empty string or neither does. Returns
// `state` itself if it has counters inside ∩ or ¬.
regex::ExprId near_form(regex::ExprPool& pool, regex::ExprId state, std::size_t max_bytes);

}  // namespace wick::grammar
