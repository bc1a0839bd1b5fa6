// One expression for all that a token of at most n bytes cannot tell apart.
#pragma once

#include <cstddef>

#include "regex/expr.h"

namespace wick::grammar {

// Goes on, for the next `max_bytes` bytes, exactly as `state` does: step by step empty or not,
// holding the empty string or not. `state` itself where counters stand under ∩ or ¬.
regex::ExprId near_form(regex::ExprPool& pool, regex::ExprId state, std::size_t max_bytes);

}  // namespace wick::grammar
