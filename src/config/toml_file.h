// A TOML 1.0 file as a flat list of keys and values with the places they stand at. Its bytes are
// foreign: size, nesting and dots of a line are bounded (config/limits.h). Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/options.h"

namespace wick {

struct TomlEntry {
  std::string key;     // "local.threads"; of an empty table "local."
  OptionValue value;  // std::monostate: of a type that no switch has (a date, a mixed list)
  std::uint32_t line = 0, column = 0;  // of the key, from 1
};

// In the order of the keys. `path` only goes into errors, which begin "PATH:LINE:COLUMN: ".
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view path);
Result<std::vector<TomlEntry>> read_toml(const std::filesystem::path& path);

}  // namespace wick
