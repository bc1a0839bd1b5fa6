#include "config/config.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/check.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "config/presets.h"
#include "config/tables.h"

namespace wick {

namespace fs = std::filesystem;

const char* process_variable(const char* name) {
  return std::getenv(name);
}

namespace {

std::string read(const ReadVariable& variable, const std::string& name) {
  const char* const value = variable(name.c_str());
  return value == nullptr ? "" : value;
}

// "local.": an empty table that might have held settings.
bool is_table(std::string_view key) {
  const auto table = options();
  return key.ends_with('.') && std::any_of(table.begin(), table.end(), [&](const Option& row) {
           return row.key.starts_with(key);
         });
}

// A link to nothing is there, and so is a file in a folder that cannot be searched: reading it is
// an error. Its settings, and with them rules and budgets, would be off without a word.
bool is_missing(const fs::path& file) {
  struct stat status = {};
  return ::lstat(file.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

Error unknown_key(std::string_view key, std::string_view place) {
  std::vector<std::string> names;
  for (const Option& row : options()) {
    names.push_back(row.key);
  }
  for (const ConfigTable& table : config_tables()) {
    names.emplace_back(table.name);
    for (const Field& field : table.fields)
      names.push_back(cat(table.name, ".", field.key));
  }
  const std::string near = nearest_names(key, names);
  return placed(
      {.code = ErrorCode::kInvalid,
       .id = "unknown_setting",
       .message = cat("there is no setting '", printable(key), "'"),
       .hint = near.empty() ? "wick config show lists them all" : cat("the nearest are: ", near)},
      place);
}

const std::string& text_in(const OptionValue& value) {
  static const std::string kNone;
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? kNone : *text;
}

}  // namespace

std::vector<fs::path> config_files(const ReadVariable& variable) {
  if (const std::string only = read(variable, "WICK_CONFIG"); !only.empty()) return {only};
  std::vector<fs::path> files = {"/etc/wick/config.toml"};
  const std::string xdg = read(variable, "XDG_CONFIG_HOME"), home = read(variable, "HOME");
  if (xdg.starts_with('/')) {
    files.push_back(fs::path(xdg) / "wick/config.toml");
  } else if (!home.empty()) {
    files.push_back(fs::path(home) / ".config/wick/config.toml");
  }
  return files;
}

Config::Config() {
  for (const Option& row : options())
    settings_.push_back({.value = row.fallback});
}

Result<Config> Config::load(const ConfigSources& sources) {
  Config config;
  const bool is_named = !sources.file.empty() || !read(sources.variable, "WICK_CONFIG").empty();
  const auto files =
      sources.file.empty() ? config_files(sources.variable) : std::vector<fs::path>{sources.file};
  for (const fs::path& file : files) {
    if (!is_named && is_missing(file)) continue;
    WICK_TRY(const std::string text, read_toml_text(file));
    WICK_TRY(const auto entries, parse_toml(text, file.string()));
    WICK_DO(config.set_file(entries, file.string()));
    WICK_TRY(TomlTables tables, parse_toml_tables(text, file.string()));
    config.tables_.merge(std::move(tables));
    if (const auto id = file_id(file)) config.files_.push_back(*id);
  }
  WICK_DO(config.set_environment(sources.variable));
  return config;
}

Result<void> Config::set_file(const std::vector<TomlEntry>& entries, std::string_view path) {
  for (TomlEntry entry : entries) {
    const std::string place = cat(path, ":", entry.line, ":", entry.column);
    if (is_table(entry.key) || is_in_config_table(entry.key)) continue;
    if (!expand_preset(entry)) continue;
    const Option* const row = find_option(entry.key);
    if (row == nullptr) return unknown_key(entry.key, place);
    auto checked = check_option(*row, entry.value);
    if (!checked) return placed(std::move(checked).error(), place);
    at(*row) = {.value = *std::move(checked), .origin = cat(path, ":", entry.line)};
  }
  return {};
}

// An empty variable counts as none, as shells' users expect.
Result<void> Config::set_environment(const ReadVariable& variable) {
  for (const Option& row : options()) {
    for (const std::string& name : row.environment) {
      const std::string text = read(variable, name);
      if (text.empty()) continue;
      const std::string place = cat("environment ", name);
      auto parsed = parse_variable(row, name, text);
      if (!parsed) return placed(std::move(parsed).error(), place);
      at(row) = {.value = *std::move(parsed), .origin = place};
      break;
    }
  }
  return {};
}

Result<void> Config::set_flag(const Option& row, std::string_view text) {
  const std::string place = cat("flag ", flag_name(row));
  auto parsed = parse_option(row, text);
  if (!parsed) return placed(std::move(parsed).error(), place);
  Setting& setting = at(row);
  auto* const list = std::get_if<std::vector<std::string>>(&setting.value);
  if (list != nullptr && setting.origin == place) {
    list->emplace_back(text);
    auto checked = check_option(row, *list);
    if (!checked) return placed(std::move(checked).error(), place);
    return {};
  }
  if (!setting.below_flag) setting.below_flag = std::move(setting.value);
  setting.value = *std::move(parsed);
  setting.origin = place;
  return {};
}

Config::Setting& Config::at(const Option& row) {
  return settings_[static_cast<std::size_t>(&row - options().data())];
}

const Config::Setting& Config::at(std::string_view key) const {
  const Option* const row = find_option(key);
  WICK_CHECK(row != nullptr, "the key is in the table of settings");
  return settings_[static_cast<std::size_t>(row - options().data())];
}

bool Config::is_set(std::string_view key) const {
  return at(key).origin != "default";
}

bool Config::boolean(std::string_view key) const {
  return std::get<bool>(at(key).value);
}

std::int64_t Config::integer(std::string_view key) const {
  return std::get<std::int64_t>(at(key).value);
}

std::uint64_t Config::unsigned_integer(std::string_view key) const {
  return std::get<std::uint64_t>(at(key).value);
}

double Config::number(std::string_view key) const {
  return to_number(at(key).value);
}

const std::string& Config::text(std::string_view key) const {
  return text_in(at(key).value);
}

const std::string& Config::text_below_flags(std::string_view key) const {
  const Setting& setting = at(key);
  return text_in(setting.below_flag ? *setting.below_flag : setting.value);
}

std::vector<std::string> Config::texts(std::string_view key) const {
  const auto* const list = std::get_if<std::vector<std::string>>(&at(key).value);
  return list == nullptr ? std::vector<std::string>{} : *list;
}

std::vector<std::int64_t> Config::integers(std::string_view key) const {
  const auto* const list = std::get_if<std::vector<std::int64_t>>(&at(key).value);
  return list == nullptr ? std::vector<std::int64_t>{} : *list;
}

const std::string& Config::origin(std::string_view key) const {
  return at(key).origin;
}

const OptionValue& Config::value(std::string_view key) const {
  return at(key).value;
}

}  // namespace wick
