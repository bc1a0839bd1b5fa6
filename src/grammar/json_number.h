// JSON numbers as expressions over their spellings. Bounds compare decimals by value, with all
// their digits, never as doubles.
//
// A number without bounds has every spelling that JSON allows. Integers and numbers with bounds
// have no exponent: 100, not 1e2. An integer may end in .0, as JSON Schema allows since draft 6.
//
//   json_number(pool, {.low = NumberBound{"0.5", true}});  // above 0.5
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "regex/expr.h"

namespace wick::grammar {

struct NumberBound {
  std::string value = {};  // spelled as JSON has it
  bool is_exclusive = false;
};

struct NumberRange {
  std::optional<NumberBound> low = {}, high = {};
  bool is_integer = false;
  bool may_end_in_zeros = true;  // integers: 1.0 is one
};

// kEmptySet where no number is in the range. Errors: a bound that is no JSON number, or has more
// than kMaxBoundDigits digits when written without an exponent.
Result<regex::ExprId> json_number(regex::ExprPool& pool, const NumberRange& range);

// Every spelling (without an exponent) of one value.
Result<regex::ExprId> json_number_equal(regex::ExprPool& pool, const std::string& value);

}  // namespace wick::grammar
