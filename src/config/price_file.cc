// A model whose row has costs that wick does not count (by request, by second, by character) has no
// known price: an estimate below the bill would overspend a budget.
#include "config/price_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/limits.h"

namespace wick {

namespace {

constexpr double kPicosPerDollar = 1e12;
constexpr double kMaxDollars = 1;   // for a token
constexpr double kRounding = 1e-3;  // of a pico-dollar: 1.5e-07 is no binary fraction

Error bad_prices(std::string_view path, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_prices",
          .message = cat("[budget]: prices: ", printable(path), " ", what),
          .hint = "docs/providers.md shows a row"};
}

std::optional<std::int64_t> picos_of(const JsonValue& value) {
  double dollars = -1;
  if (const std::int64_t* const whole = value.integer()) dollars = static_cast<double>(*whole);
  if (const double* const real = value.number()) dollars = *real;
  if (!(dollars >= 0 && dollars <= kMaxDollars)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(dollars * kPicosPerDollar - kRounding));
}

// The highest of `key` and of "KEY_above_200k_tokens" and the like; nothing if one is no price.
std::optional<std::int64_t> highest(const Object& row, std::string_view key) {
  if (row.find(key) == nullptr) return std::nullopt;
  std::int64_t most = 0;
  for (const auto& [name, value] : row) {
    if (name != key && !name.starts_with(cat(key, "_above_"))) continue;
    const auto picos = picos_of(value);
    if (!picos) return std::nullopt;
    most = std::max(most, *picos);
  }
  return most;
}

bool has_other_costs(const Object& row) {
  return std::any_of(row.begin(), row.end(), [](const Object::Item& item) {
    const std::string_view name = item.first;
    return !item.second.is_null() &&
           (name.starts_with("input_cost_per_") || name.starts_with("output_cost_per_")) &&
           (name.ends_with("_per_request") || name.ends_with("_per_second") ||
            name.ends_with("_per_character"));
  });
}

std::optional<route::Price> price_of(const Object& row) {
  const auto input = highest(row, "input_cost_per_token");
  const auto output = highest(row, "output_cost_per_token");
  if (!input || !output || has_other_costs(row)) return std::nullopt;
  const std::int64_t reasoning = highest(row, "output_cost_per_reasoning_token").value_or(0);
  return route::Price{.input = *input,
                      .output = std::max(*output, reasoning),
                      .cached = highest(row, "cache_read_input_token_cost").value_or(-1)};
}

// Its name, and the day (UTC) on which it was written.
std::string version_of(const std::string& path) {
  struct stat about = {};
  std::tm day = {};
  char text[16] = {};
  if (::stat(path.c_str(), &about) == 0 && ::gmtime_r(&about.st_mtime, &day) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return cat(path.substr(path.rfind('/') + 1), " of ", text);
}

}  // namespace

Result<PriceFile> PriceFile::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad_prices(path, "cannot be read");
  std::string text(kMaxPriceFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxPriceFileBytes)
    return bad_prices(path, cat("has more than ", kMaxPriceFileBytes, " bytes"));
  WICK_TRY(PriceFile prices, parse(text, path));
  prices.version_ = version_of(path);
  return prices;
}

Result<PriceFile> PriceFile::parse(std::string_view text, std::string_view path) {
  auto value = parse_json(text);
  if (!value || value->object() == nullptr) return bad_prices(path, "is no JSON object");
  PriceFile prices;
  prices.rows_ = std::move(*value->object());
  return prices;
}

void PriceFile::complete(std::string_view kind, route::MemberModel& model) const {
  const JsonValue* found = rows_.find(cat(kind, "/", model.name));
  if (found == nullptr) {
    found = rows_.find(model.name);
    const Object* const row = found == nullptr ? nullptr : found->object();
    const JsonValue* const provider = row == nullptr ? nullptr : row->find("litellm_provider");
    if (provider == nullptr || provider->string() == nullptr || *provider->string() != kind) return;
  }
  const Object* const row = found->object();
  if (row == nullptr) return;
  if (!model.price) {
    model.price = price_of(*row);
    if (model.price) model.price_version = cat(route::to_text(*model.price), " (", version_, ")");
  }
  const JsonValue* const context = row->find("max_input_tokens");
  const std::int64_t* const tokens = context == nullptr ? nullptr : context->integer();
  if (model.context == 0 && tokens != nullptr && *tokens > 0 && *tokens <= kMaxPriceFileContext)
    model.context = static_cast<int>(*tokens);
}

}  // namespace wick
