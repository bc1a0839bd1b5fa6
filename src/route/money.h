// Money in whole numbers: prices in pico-dollars for a token, amounts in nano-dollars, rounded up.
// No floating point. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wick/usage.h"

namespace wick::route {

using Nanos = std::int64_t;  // 10^-9 US dollars

inline constexpr Nanos kNanosPerDollar = 1'000'000'000;
inline constexpr Nanos kMaxNanos = std::int64_t{1} << 60;  // sums of eight fit

struct Price {  // pico-dollars (10^-12) for a token
  std::int64_t input = 0, output = 0;
  std::int64_t cached = -1;  // of prompt tokens found in the provider's cache; -1 = as input

  bool is_free() const noexcept { return input == 0 && output == 0 && cached <= 0; }
};

// At most kMaxNanos. Negative counts are none. Without usage it is the most that they may cost.
Nanos cost_of(const Price& price, const Usage& usage) noexcept;
Nanos cost_of(const Price& price, std::int64_t input_tokens, std::int64_t output_tokens) noexcept;

// "5 USD", "0.25 USD": exact to the nano-dollar. kInvalid, id "bad_amount".
Result<Nanos> parse_amount(std::string_view text);
// "0.15 USD/M": for a million tokens; exact to the pico-dollar for a token. kInvalid, "bad_price".
Result<std::int64_t> parse_price(std::string_view text);
// "input 0.15 cached 0.075 output 0.6 USD/M": exact.
std::string to_text(const Price& price);
// "0.001230", at least six digits behind the point, no more than needed.
std::string to_dollars(Nanos amount);

}  // namespace wick::route
