#include "route/money.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::route {

namespace {

constexpr std::int64_t kPicosPerNano = 1000;
constexpr std::int64_t kPicosPerMillionth = 1'000'000;  // of a dollar

// "12.345" · 10^digits; -1 if the text is no such number, too large, or has more digits.
std::int64_t parse_decimal(std::string_view text, int digits) {
  constexpr std::int64_t kMax = kMaxNanos / 10;
  std::int64_t value = 0;
  int n_behind = -1;  // digits behind the point; -1 = no point yet
  bool has_digit = false;
  for (const char c : text) {
    if (c == '.' && n_behind < 0) {
      n_behind = 0;
      continue;
    }
    if (c < '0' || c > '9' || value > kMax) return -1;
    has_digit = true;
    value = value * 10 + (c - '0');
    if (n_behind >= 0) ++n_behind;
  }
  if (!has_digit) return -1;
  for (int i = std::max(n_behind, 0); i < digits; ++i) {
    if (value > kMax) return -1;
    value *= 10;
  }
  for (int i = digits; i < n_behind; ++i) {
    if (value % 10 != 0) return -1;  // finer than what we count in
    value /= 10;
  }
  return value;
}

Nanos nanos_of(__int128 picos) noexcept {
  const __int128 nanos = (picos + (kPicosPerNano - 1)) / kPicosPerNano;
  return nanos > kMaxNanos ? kMaxNanos : static_cast<Nanos>(nanos);
}

}  // namespace

Nanos cost_of(const Price& price, std::int64_t input_tokens, std::int64_t output_tokens) noexcept {
  const std::int64_t dearest = std::max(price.input, price.cached);  // any of them may be cached
  return nanos_of(__int128{dearest} * std::max<std::int64_t>(input_tokens, 0) +
                  __int128{price.output} * std::max<std::int64_t>(output_tokens, 0));
}

Nanos cost_of(const Price& price, const Usage& usage) noexcept {
  const std::int64_t prompt = std::max(usage.prompt_tokens, 0);
  const std::int64_t cached = std::clamp<std::int64_t>(usage.cached_tokens, 0, prompt);
  const std::int64_t cached_price = price.cached < 0 ? price.input : price.cached;
  return nanos_of(__int128{price.input} * (prompt - cached) + __int128{cached_price} * cached +
                  __int128{price.output} * std::max(usage.generated_tokens, 0));
}

Result<Nanos> parse_amount(std::string_view text) {
  constexpr std::string_view kUnit = " USD";
  const std::int64_t value =
      text.ends_with(kUnit) ? parse_decimal(text.substr(0, text.size() - kUnit.size()), 9) : -1;
  if (value >= 0) return value;
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_amount",
               .message = cat("'", printable(text), "' is no amount"),
               .hint = "an amount looks like \"5 USD\" or \"0.25 USD\""};
}

Result<std::int64_t> parse_price(std::string_view text) {
  constexpr std::string_view kUnit = " USD/M";
  const std::int64_t value =
      text.ends_with(kUnit) ? parse_decimal(text.substr(0, text.size() - kUnit.size()), 6) : -1;
  if (value >= 0) return value;
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_price",
               .message = cat("'", printable(text), "' is no price"),
               .hint = "a price is for a million tokens and looks like \"0.15 USD/M\""};
}

std::string to_text(const Price& price) {
  const auto per_million = [](std::int64_t picos) {
    std::string behind = std::to_string(picos % kPicosPerMillionth);
    behind.insert(0, 6 - behind.size(), '0');
    behind.erase(behind.find_last_not_of('0') + 1);
    return cat(picos / kPicosPerMillionth, behind.empty() ? "" : ".", behind);
  };
  return cat("input ", per_million(price.input),
             price.cached < 0 ? "" : cat(" cached ", per_million(price.cached)), " output ",
             per_million(price.output), " USD/M");
}

std::string to_dollars(Nanos amount) {
  const bool is_negative = amount < 0;
  const auto size = static_cast<std::uint64_t>(is_negative ? -amount : amount);
  std::string behind = std::to_string(size % kNanosPerDollar);
  behind.insert(0, 9 - behind.size(), '0');
  while (behind.size() > 6 && behind.back() == '0')
    behind.pop_back();
  return cat(is_negative ? "-" : "", size / kNanosPerDollar, ".", behind);
}

}  // namespace wick::route
