// The order of samplers as people write it.
#include <algorithm>

#include "base/strings.h"
#include "sample/stage.h"

namespace wick {

namespace {

struct Alias {
  std::string_view word, name;
};

constexpr Alias kAliases[] = {{"typical", "typ_p"},
                              {"typical_p", "typ_p"},
                              {"typ", "typ_p"},
                              {"nucleus", "top_p"},
                              {"temp", "temperature"}};

}  // namespace

Result<SamplerOrder> parse_sampler_order(std::string_view text) {
  SamplerOrder order{.n = 0};
  const auto rows = samplers();
  const auto refuse = [&](std::string_view word, std::string_view why) {
    std::string known;
    for (const SamplerInfo& row : rows) {
      if (is_movable(row.kind)) known += cat(known.empty() ? "" : ";", row.name);
    }
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_sampler_order",
                 .message = cat("the order of samplers ", why, " '", printable(word), "'"),
                 .hint = cat("the default order is ", known)};
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(";,"), text.size());
    std::string word(text.substr(0, end));  // cold: a request begins
    text.remove_prefix(std::min(end + 1, text.size()));
    std::replace(word.begin(), word.end(), '-', '_');
    for (const Alias& alias : kAliases) {
      if (word == alias.word) word = alias.name;
    }
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SamplerInfo& r) {
      return is_movable(r.kind) && r.name == word;
    });
    if (row == rows.end()) return refuse(word, "knows no");
    const auto index = static_cast<std::uint8_t>(row - rows.begin());
    const auto used = std::span(order.rows).first(static_cast<std::size_t>(order.n));
    if (std::find(used.begin(), used.end(), index) != used.end()) return refuse(word, "has twice");
    order.rows[static_cast<std::size_t>(order.n++)] = index;
  }
  return order;
}

std::string to_string(const SamplerOrder& order) {
  std::string text;
  const auto rows = samplers();
  const auto add = [&](const SamplerInfo& row) {
    if (is_movable(row.kind)) text += cat(text.empty() ? "" : ";", row.name);
  };
  for (std::size_t i = 0; order.n < 0 && i < rows.size(); ++i)
    add(rows[i]);
  for (int i = 0; i < order.n; ++i)
    add(rows[order.rows[static_cast<std::size_t>(i)]]);
  return text;
}

}  // namespace wick
