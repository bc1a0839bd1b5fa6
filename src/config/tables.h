// The tables of config.toml that describe providers and rules: [[provider]], [[route]], [alias],
// [budget], [limits], [response_cache], and the presets. One row for each key: the reader
// (config/table_reader.h), `wick config schema`, `wick config show` and the tests of
// docs/providers.md use the same rows. Immutable; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "route/rules.h"

namespace wick {

enum class FieldKind : std::uint8_t {
  kText,
  kTexts,  // a text, or a list of texts
  kChoice,
  kBoolean,
  kWhole,     // min to max
  kReal,      // min to max
  kPositive,  // above 0, to max
  kPrice,     // "0.15 USD/M"
  kAmount,    // "5 USD"
  kDuration,  // "30s", "5m", "1h", or whole seconds
  kModels,    // names, or tables of the rows "model"
  kWhen,      // a table of the rows "when"
  kAny,       // without effect
};

struct Field {
  std::string_view key;
  FieldKind kind = FieldKind::kText;
  std::string_view help = {};
  double min = 0, max = 0;
  std::vector<std::string> choices = {};
  bool is_required = false;
};

enum class TableForm : std::uint8_t {
  kTable,   // [name]
  kList,    // [[name]]
  kEither,  // [name] or [[name]]
  kNamed,   // [name] with keys of the user's, each a text, a list of texts, or a table of the rows
};

struct ConfigTable {
  std::string_view name;
  TableForm form = TableForm::kTable;
  std::vector<Field> fields = {};
};

std::span<const ConfigTable> config_tables();
const ConfigTable& model_fields();                       // of an entry of `models`
const ConfigTable& when_fields();                        // of `when`
const ConfigTable& config_table(std::string_view name);  // of config_tables()

// "local.threads" is in none, "provider" and "budget.monthly" are in one.
bool is_in_config_table(std::string_view key);

inline constexpr std::pair<std::string_view, route::Strategy> kStrategies[] = {
    {"tiers", route::Strategy::kTiers},
    {"local-first", route::Strategy::kLocalFirst},
    {"cost", route::Strategy::kCost},
    {"performance", route::Strategy::kPerformance},
    {"least-busy", route::Strategy::kLeastBusy},
    {"weighted", route::Strategy::kWeighted},
    {"prefix-affinity", route::Strategy::kAffinity}};

// Those of [fallback] in the words of kStrategies.
inline constexpr std::pair<std::string_view, std::string_view> kPresetStrategies[] = {
    {"local_first", "local-first"},
    {"cost_optimized", "cost"},
    {"performance_first", "performance"}};

}  // namespace wick
