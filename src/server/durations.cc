#include "server/durations.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace wick::server {

namespace {

constexpr double kMostMs = 1e15;  // thirty thousand years

struct Unit {
  std::string_view name;
  double ms;
};

constexpr Unit kUnits[] = {{"ms", 1}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}};

}  // namespace

std::int64_t keep_alive_ms(double seconds) noexcept {
  if (!(seconds >= 0)) return -1;
  return static_cast<std::int64_t>(std::min(seconds * 1000, kMostMs));
}

Result<std::int64_t> parse_keep_alive(std::string_view text) {
  const Error bad{.code = ErrorCode::kInvalid,
                  .id = "bad_keep_alive",
                  .message = cat("keep_alive is '", printable(text, 40),
                                 "', wanted are seconds, or a time like 5m or 1h30m"),
                  .hint = "-1 keeps a model for ever"};
  const bool is_negative = text.starts_with('-');
  std::string_view rest = text.substr(is_negative ? 1 : 0);
  double sum_ms = 0;
  bool has_unit = false;
  while (!rest.empty()) {
    double value = 0;
    const char* const end = rest.data() + rest.size();
    const auto [at, error] = std::from_chars(rest.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(value) || value < 0) return bad;
    rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
    if (rest.empty() && !has_unit) return is_negative ? -1 : keep_alive_ms(value);
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const Unit& u) { return rest.starts_with(u.name); });
    if (unit == std::end(kUnits)) return bad;
    rest.remove_prefix(unit->name.size());
    sum_ms += value * unit->ms;
    has_unit = true;
  }
  if (!has_unit) return bad;
  return is_negative ? -1 : keep_alive_ms(sum_ms / 1000);
}

}  // namespace wick::server
