#include "cli/settings.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace wick {

namespace {

// What help writes behind the flag.
std::string type_of(const Switch& row) {
  switch (row.kind) {
    case SwitchKind::kInteger:
    case SwitchKind::kUnsigned:
      return "N";
    case SwitchKind::kReal:
      return "X";
    case SwitchKind::kBytes:
      return "BYTES";
    case SwitchKind::kIntegers:
      return "N,N,…";
    default:
      return "TEXT";
  }
}

// "threads; 0 = what this process may use (0 to 1024; 0)".
std::string help_of(const Switch& row) {
  const auto* const text = std::get_if<std::string>(&row.fallback);
  const std::string fallback = text != nullptr ? *text : to_toml(row.fallback);
  std::string range;
  if (row.kind == SwitchKind::kInteger || row.kind == SwitchKind::kReal) {
    range = cat(row.min, " to ", row.max);
  } else if (row.kind == SwitchKind::kUnsigned) {
    range = "0 to 18446744073709551615";
  } else if (row.kind == SwitchKind::kChoice) {
    range = allowed(row);
  }
  if (fallback.empty() && range.empty()) return row.help;
  const char* const between = fallback.empty() || range.empty() ? "" : "; default ";
  return cat(row.help, " (", range, range.empty() ? "default " : between, fallback, ")");
}

}  // namespace

void SettingFlags::add_file(Flags& flags) {
  if (std::exchange(has_file_flag_, true)) return;
  flags.text("--config", file_,
             "read this file of settings instead of those of `wick config path`");
}

void SettingFlags::add(Flags& flags, const Switch& row, const std::string& names) {
  add_file(flags);
  const auto set = [this, &row](const std::string& text) { given_.emplace_back(&row, text); };
  if (row.kind == SwitchKind::kBoolean) {
    flags.toggle(names, help_of(row), [set](bool is_on) { set(is_on ? "true" : "false"); });
    return;
  }
  flags.setting(names, type_of(row), row.kind == SwitchKind::kTexts, help_of(row), set);
}

void SettingFlags::add(Flags& flags, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Switch* const row = find_switch(key);
    WICK_CHECK(row != nullptr, "the key is in the table of switches");
    add(flags, *row, row->flags);
  }
}

void SettingFlags::add_model(Flags& flags, bool is_positional) {
  const Switch& row = *find_switch("local.model_path");
  add(flags, row, is_positional ? cat("MODEL,", row.flags) : row.flags);
  add(flags, {"hub.offline"});
}

void SettingFlags::add_tables(Flags& flags, std::initializer_list<std::string_view> tables) {
  for (const Switch& row : switches()) {
    const auto is_in = [&](std::string_view table) { return row.key.starts_with(table); };
    if (row.key != "local.model_path" && std::any_of(tables.begin(), tables.end(), is_in))
      add(flags, row, row.flags);
  }
}

void SettingFlags::add_all(Flags& flags) {
  for (const Switch& row : switches())
    add(flags, row, row.flags);
}

Result<Config> SettingFlags::resolve() const {
  WICK_TRY(Config config, Config::load({.file = file_}));
  for (const auto& [row, text] : given_)
    WICK_DO(config.set_flag(*row, text));
  return config;
}

}  // namespace wick
