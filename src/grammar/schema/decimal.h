// Decimal numbers as JSON spells them, exact at any length: compared and divided by value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wick::grammar {

// sign · 0.digits · 10^point; digits have no zero at either end and are empty for zero.
struct Decimal {
  bool is_negative = false;
  std::string digits = {};
  std::int64_t point = 0;

  bool is_integer() const noexcept {
    return digits.empty() || point >= static_cast<std::int64_t>(digits.size());
  }

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// Nothing where `text` is no number as JSON spells them. Exponents beyond 10^15 are cut there.
std::optional<Decimal> parse_decimal(std::string_view text);

// Below 0, 0, above 0 as a is less than, equal to, greater than b.
int compare(const Decimal& a, const Decimal& b) noexcept;

// One spelling for each value.
std::string spelled(const Decimal& d);

// What multiples are taken of: value · 10^-scale, exact.
struct Divisor {
  std::uint64_t value = 1;
  std::int64_t scale = 0;  // may be negative: 100 is 1 · 10^2
};

// Nothing where `d` is not above 0 or has more than 18 digits.
std::optional<Divisor> divisor_of(const Decimal& d) noexcept;

bool is_multiple(const Decimal& d, const Divisor& of) noexcept;

}  // namespace wick::grammar
