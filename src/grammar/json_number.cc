// Decimals compare like words: first by the length of the part before the point, then digit by
// digit. So "x ≥ 13.5" is: a longer whole part; or one that is larger at its first digit, or at
// its second; or the same and a fraction that is larger at its first digit, or goes on from it.
// Each line is one alternative. Negative numbers are the mirror image: −y ≥ low where y ≤ −low.
#include "grammar/json_number.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

using regex::ByteSet;
using regex::ExprId;
using regex::ExprPool;
using regex::kUnbounded;

// whole.fraction without zeros that say nothing; whole is "0" at least.
struct Decimal {
  bool is_negative = false;
  std::string whole = {}, fraction = {};

  bool is_zero() const { return whole == "0" && fraction.empty(); }
};

Error no_number(std::string_view text) {
  return {ErrorCode::kInvalid,
          "grammar_number",
          cat("'", printable(text, 40), "' is no number as JSON spells them"),
          {}};
}

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

Result<long> take_exponent(std::string_view& text, std::string_view all) {
  if (text.empty() || (text[0] | 0x20) != 'e') return 0L;
  text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return no_number(all);
  long value = 0;
  for (const char c : digits) {
    value = std::min(value * 10 + (c - '0'), 1'000'000L);
  }
  return is_negative ? -value : value;
}

Result<Decimal> parse_decimal(std::string_view all) {
  std::string_view text = all;
  Decimal out;
  out.is_negative = text.starts_with('-');
  if (out.is_negative) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return no_number(all);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return no_number(all);
  }
  WICK_TRY(const long exponent, take_exponent(text, all));
  if (!text.empty()) return no_number(all);
  std::string digits = cat(whole, fraction);
  // Leading zeros carry no value, so that 0e999999 is short.
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  long point = static_cast<long>(whole.size()) + exponent - static_cast<long>(first);
  digits.erase(0, first);
  if (digits.empty()) point = 0;
  const long n = static_cast<long>(digits.size());
  if (std::max(point, n) - std::min(point, 0L) > kMaxBoundDigits) {
    return Error{ErrorCode::kUnsupported,
                 "grammar_number",
                 cat("the number '", printable(all, 40), "' has more than ", kMaxBoundDigits,
                     " digits without an exponent"),
                 {}};
  }
  if (point < 0) digits.insert(0, static_cast<std::size_t>(-point), '0');
  if (point > n) digits.append(static_cast<std::size_t>(point - n), '0');
  out.whole = digits.substr(0, static_cast<std::size_t>(std::max(point, 0L)));
  out.fraction = digits.substr(out.whole.size());
  if (out.whole.empty()) out.whole = "0";
  out.fraction.erase(out.fraction.find_last_not_of('0') + 1);
  return out;
}

class Numbers {
 public:
  explicit Numbers(ExprPool& pool)
      : pool_(pool),
        digit_(between('0', '9')),
        zero_(between('0', '0')),
        positive_(between('1', '9')),
        point_(between('.', '.')),
        digits_(pool.repeat(digit_, 0, kUnbounded)),
        fraction_(pool.repeat(pool.concat(point_, pool.repeat(digit_, 1, kUnbounded)), 0, 1)) {}

  // 0 or more, without bounds, a sign or an exponent.
  ExprId any() { return pool_.concat(any_whole(), fraction_); }

  ExprId any_whole() { return pool_.unite({zero_, pool_.concat(positive_, digits_)}); }

  // (.0+)?
  ExprId zeros() {
    return pool_.repeat(pool_.concat(point_, pool_.repeat(zero_, 1, kUnbounded)), 0, 1);
  }

  ExprId exponent() {
    const ExprId sign = pool_.unite({literal("+"), literal("-")});
    return pool_.repeat(
        pool_.concat({pool_.unite({literal("e"), literal("E")}), pool_.repeat(sign, 0, 1),
                      pool_.repeat(digit_, 1, kUnbounded)}),
        0, 1);
  }

  // Those of any() that are at least `d`, which is not negative.
  ExprId at_least(const Decimal& d, bool is_exclusive) {
    const auto n = static_cast<std::uint32_t>(d.whole.size());
    std::vector<ExprId> parts = {
        pool_.concat({positive_, pool_.repeat(digit_, n, kUnbounded), fraction_})};
    for (std::uint32_t i = 0; i < n; ++i) {
      parts.push_back(pool_.concat({literal(d.whole.substr(0, i)), above(d.whole[i]),
                                    pool_.repeat(digit_, n - i - 1, n - i - 1), fraction_}));
    }
    const ExprId more = pool_.concat({digits_, positive_, digits_});
    std::vector<ExprId> rest;
    for (std::size_t i = 0; i < d.fraction.size(); ++i) {
      rest.push_back(
          pool_.concat({literal("." + d.fraction.substr(0, i)), above(d.fraction[i]), digits_}));
    }
    if (!d.fraction.empty()) {
      rest.push_back(pool_.concat(literal("." + d.fraction), is_exclusive ? more : digits_));
    } else {
      rest.push_back(is_exclusive ? pool_.concat(point_, more) : fraction_);
    }
    parts.push_back(pool_.concat(literal(d.whole), pool_.unite(rest)));
    return pool_.unite(parts);
  }

  // Those that are at most `d`, which is not negative.
  ExprId at_most(const Decimal& d, bool is_exclusive) {
    const auto n = static_cast<std::uint32_t>(d.whole.size());
    std::vector<ExprId> parts;
    if (n > 1) {
      const ExprId shorter =
          pool_.unite({zero_, pool_.concat(positive_, pool_.repeat(digit_, 0, n - 2))});
      parts.push_back(pool_.concat(shorter, fraction_));
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool is_first_of_many = i == 0 && n > 1;
      parts.push_back(pool_.concat({literal(d.whole.substr(0, i)),
                                    below(d.whole[i], is_first_of_many ? '1' : '0'),
                                    pool_.repeat(digit_, n - i - 1, n - i - 1), fraction_}));
    }
    std::vector<ExprId> rest;
    for (std::size_t i = 0; i < d.fraction.size(); ++i) {
      const std::string same = d.fraction.substr(0, i);
      rest.push_back(i == 0 ? regex::kEpsilon : literal("." + same));  // it ends here: less
      rest.push_back(pool_.concat({literal("." + same), below(d.fraction[i], '0'), digits_}));
    }
    if (!is_exclusive) {
      const ExprId its_zeros = pool_.repeat(zero_, 0, kUnbounded);
      rest.push_back(d.fraction.empty() ? zeros()
                                        : pool_.concat(literal("." + d.fraction), its_zeros));
    }
    parts.push_back(pool_.concat(literal(d.whole), pool_.unite(rest)));
    return pool_.unite(parts);
  }

 private:
  ExprId between(char first, char last) {
    return first > last ? regex::kEmptySet
                        : pool_.bytes(ByteSet::range(static_cast<unsigned char>(first),
                                                     static_cast<unsigned char>(last)));
  }

  ExprId above(char digit) { return between(static_cast<char>(digit + 1), '9'); }

  ExprId below(char digit, char least) { return between(least, static_cast<char>(digit - 1)); }

  ExprId literal(std::string_view text) { return pool_.literal(text); }

  ExprPool& pool_;
  ExprId digit_, zero_, positive_, point_, digits_, fraction_;
};

struct Bound {
  Decimal at = {};
  bool is_exclusive = false;
};

// The numbers from 0 on within the bounds.
ExprId not_negative(ExprPool& pool, Numbers& numbers, const std::optional<Bound>& low,
                    const std::optional<Bound>& high) {
  ExprId out = numbers.any();
  if (high && high->at.is_negative && !high->at.is_zero()) return regex::kEmptySet;
  if (low && (!low->at.is_negative || low->at.is_zero())) {
    out = pool.intersect({out, numbers.at_least(low->at, low->is_exclusive)});
  }
  if (high) out = pool.intersect({out, numbers.at_most(high->at, high->is_exclusive)});
  return out;
}

std::optional<Bound> mirrored(std::optional<Bound> bound) {
  if (bound) bound->at.is_negative = !bound->at.is_negative;
  return bound;
}

Result<std::optional<Bound>> parse_bound(const std::optional<NumberBound>& from) {
  if (!from) return std::optional<Bound>();
  WICK_TRY(Decimal at, parse_decimal(from->value));
  return std::optional(Bound{std::move(at), from->is_exclusive});
}

}  // namespace

Result<ExprId> json_number(ExprPool& pool, const NumberRange& range) {
  pool.refuel();
  WICK_TRY(const auto low, parse_bound(range.low));
  WICK_TRY(const auto high, parse_bound(range.high));
  Numbers numbers(pool);
  const ExprId minus = pool.literal("-");
  ExprId out =
      pool.unite({not_negative(pool, numbers, low, high),
                  pool.concat(minus, not_negative(pool, numbers, mirrored(high), mirrored(low)))});
  if (range.is_integer) {
    const ExprId end = range.may_end_in_zeros ? numbers.zeros() : regex::kEpsilon;
    out = pool.intersect({out, pool.concat({pool.repeat(minus, 0, 1), numbers.any_whole(), end})});
  } else if (!low && !high) {
    out = pool.concat(out, numbers.exponent());
  }
  if (out == regex::kNoExpr) return pool.failure();
  return out;
}

Result<ExprId> json_number_equal(ExprPool& pool, const std::string& value) {
  return json_number(pool, {.low = NumberBound{value}, .high = NumberBound{value}});
}

}  // namespace wick::grammar
