// The settings and where each value comes from: flag > environment > the user's file > /etc/wick >
// the model file's hints > default. Config has all layers but the model file; code that reads a
// model checks is_set() before using a hint. Plain data once it is loaded; any thread.
//
//   WICK_TRY(Config config, Config::load({.files = config_files({})}));
//   config.integer("local.threads");   // 4
//   config.origin("local.threads");    // "/home/me/.config/wick/config.toml:3"
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "config/options.h"
#include "config/toml_file.h"

namespace wick {

// A variable of the environment, nullptr if it is not there.
using ReadVariable = std::function<const char*(const char* name)>;
const char* process_variable(const char* name);  // std::getenv

// The config files, lowest precedence first: /etc/wick/config.toml, then the user's
// ($XDG_CONFIG_HOME/wick/config.toml, else ~/.config/wick/config.toml). $WICK_CONFIG names one to
// read instead of both. The current folder is not searched: its files may be from a download.
std::vector<std::filesystem::path> config_files(const ReadVariable& variable = process_variable);

struct ConfigSources {
  std::filesystem::path file = {};  // of --config: the only one that is read, and must be there
  ReadVariable variable = process_variable;
};

class Config {
 public:
  Config();  // the defaults

  // Reads files and environment. The error for a bad value has the place, the key, the value and
  // the allowed range; the error for an unknown key suggests similar keys.
  static Result<Config> load(const ConfigSources& sources);

  // Values of flags, in order; repeated flags add list items.
  Result<void> set_flag(const Option& row, std::string_view text);
  Result<void> set_file(const std::vector<TomlEntry>& entries, std::string_view path);

  // `key` must be in the table, and of that type.
  bool is_set(std::string_view key) const;  // by somebody; not the default
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;  // of a number of bytes, too
  std::uint64_t unsigned_integer(std::string_view key) const;
  double number(std::string_view key) const;            // of a whole one and a boolean (0, 1), too
  const std::string& text(std::string_view key) const;  // "" if it is not set
  const std::string& text_below_flags(std::string_view key) const;  // as if no flag were given
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  // "default", "/path/config.toml:12", "environment LLAMA_ARG_THREADS", "flag --threads".
  const std::string& origin(std::string_view key) const;
  const OptionValue& value(std::string_view key) const;

  // The tables of config/tables.h, for config/routing.h; of several files the last one that has a
  // table holds.
  const TomlTables& tables() const noexcept { return tables_; }

  // The files that were read: what this program writes must not replace them.
  const std::vector<FileId>& files() const noexcept { return files_; }

 private:
  struct Setting {
    OptionValue value;
    std::string origin = "default";
    std::optional<OptionValue> below_flag = {};  // a flag gave the value instead of this one
  };

  Result<void> set_environment(const ReadVariable& variable);
  const Setting& at(std::string_view key) const;
  Setting& at(const Option& row);

  TomlTables tables_;
  std::vector<FileId> files_;
  std::vector<Setting> settings_;  // one for each row of options()
};

}  // namespace wick
