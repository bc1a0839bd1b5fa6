// Days as texts. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/strings.h"

namespace wick {

// "2026-11-23", of days since 1970 (UTC).
inline std::string day_text(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  const auto two = [](unsigned n) { return cat(n < 10 ? "0" : "", n); };
  return cat(static_cast<int>(date.year()), "-", two(static_cast<unsigned>(date.month())), "-",
             two(static_cast<unsigned>(date.day())));
}

}  // namespace wick
