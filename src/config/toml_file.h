// Parses a TOML 1.0 file to a flat list of keys, values and their places in the file. Files are
// untrusted: size, nesting and dots per line are limited (config/limits.h). Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/json_value.h"
#include "config/options.h"

namespace wick {

struct TomlEntry {
  std::string key;    // "local.threads"; of an empty table "local."
  OptionValue value;  // std::monostate: of a type that no switch has (a date, a mixed list)
  std::uint32_t line = 0, column = 0;  // of the key, from 1
};

// In the order of the keys. `path` only goes into errors, which begin "PATH:LINE:COLUMN: ".
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view path);
// The text of a file, at most kMaxConfigBytes.
Result<std::string> read_toml_text(const std::filesystem::path& path);

// The tables that are lists of things rather than switches: provider, route and budget, as JSON. A
// date becomes null.
Result<Object> parse_toml_tables(std::string_view text, std::string_view path);

// A table of an array of tables, `[[name]]`, with the place of its header.
struct TomlItem {
  std::string name;
  Object fields;
  std::uint32_t line = 0, column = 0;
};

// A file that holds arrays of tables alone, in the order of its lines. Anything else at its top is
// an error with its place.
Result<std::vector<TomlItem>> parse_toml_items(std::string_view text, std::string_view path);
bool is_list_table(std::string_view key);  // "provider", "budget.monthly"

}  // namespace wick
