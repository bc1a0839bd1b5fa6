#include "grammar/schema/decimal.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::grammar {
namespace {

constexpr std::int64_t kMaxExponent = 1'000'000'000'000'000;

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9')
    ++n;
  const std::string_view out = text.substr(0, n);
  text.remove_prefix(n);
  return out;
}

__extension__ using Wide = unsigned __int128;

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal out;
  out.is_negative = text.starts_with('-');
  if (out.is_negative) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    const bool is_down = text.starts_with('-');
    if (is_down || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view digits = take_digits(text);
    if (digits.empty()) return std::nullopt;
    for (const char c : digits)
      exponent = std::min(exponent * 10 + (c - '0'), kMaxExponent);
    if (is_down) exponent = -exponent;
  }
  if (!text.empty()) return std::nullopt;
  out.digits.append(whole).append(fraction);
  out.point = static_cast<std::int64_t>(whole.size()) + exponent;
  const std::size_t zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, zeros);
  out.point -= static_cast<std::int64_t>(zeros);
  out.digits.erase(out.digits.find_last_not_of('0') + 1);
  if (out.digits.empty()) out = {};
  return out;
}

int compare(const Decimal& a, const Decimal& b) noexcept {
  const auto sign = [](const Decimal& d) { return d.digits.empty() ? 0 : d.is_negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  if (sign(a) == 0) return 0;
  int size = a.digits.compare(b.digits);
  if (a.point != b.point) size = a.point < b.point ? -1 : 1;
  return size * sign(a);
}

std::string spelled(const Decimal& d) {
  return d.digits.empty() ? "0" : cat(d.is_negative ? "-0." : "0.", d.digits, "e", d.point);
}

std::optional<Divisor> divisor_of(const Decimal& d) noexcept {
  if (d.digits.empty() || d.is_negative || d.digits.size() > 18) return std::nullopt;
  Divisor out{.value = 0, .scale = static_cast<std::int64_t>(d.digits.size()) - d.point};
  for (const char c : d.digits)
    out.value = out.value * 10 + static_cast<std::uint64_t>(c - '0');
  return out;
}

// value = digits · 10^-s. Its digits do not end in 0, so where s is above the divisor's scale the
// quotient has a fraction.
bool is_multiple(const Decimal& d, const Divisor& of) noexcept {
  if (d.digits.empty()) return true;
  const std::int64_t scale = static_cast<std::int64_t>(d.digits.size()) - d.point;
  if (scale > of.scale) return false;
  Wide rest = 0;
  for (const char c : d.digits)
    rest = (rest * 10 + static_cast<Wide>(c - '0')) % of.value;
  Wide power = 10 % of.value;
  for (auto n = static_cast<std::uint64_t>(of.scale - scale); n != 0; n >>= 1U) {
    if ((n & 1U) != 0) rest = rest * power % of.value;
    power = power * power % of.value;
  }
  return rest == 0;
}

}  // namespace wick::grammar
