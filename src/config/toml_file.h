// Parses a TOML 1.0 file to a flat list of keys, values and their places in the file. Files are
// untrusted: size, nesting and dots per line are limited (config/limits.h). Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

// "provider/0/name" → "config.toml:2:1": the place of each key and list item.
using TomlPlaces = std::map<std::string, std::string>;
// The place of `path`, else of the nearest table around it; "" if there is none.
std::string place_of(const TomlPlaces& places, std::string_view path);
// `error` with the place of the bad value before its message, if there is one.
Error placed(Error error, std::string_view place);

// The tables of config/tables.h, as JSON. A date is null.
struct TomlTables {
  Object values = {};
  TomlPlaces places = {};

  // Replaces the tables that `other` has.
  void merge(TomlTables other);
};

Result<TomlTables> parse_toml_tables(std::string_view text, std::string_view path);

// A table of an array of tables, `[[name]]`, with the place of its header.
struct TomlItem {
  std::string name;
  Object fields;
  std::uint32_t line = 0, column = 0;
};

// A file that holds arrays of tables alone, in the order of its lines. Anything else at its top is
// an error with its place.
Result<std::vector<TomlItem>> parse_toml_items(std::string_view text, std::string_view path);

}  // namespace wick
