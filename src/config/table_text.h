// The tables of config/tables.h as TOML and JSON, for `wick config show`: as they stand in the
// files, without the passwords of URIs. Any thread.
#pragma once

#include <string>
#include <vector>

#include "chat/json_value.h"
#include "config/toml_file.h"

namespace wick {

struct TableLine {
  std::string text, place;  // "config.toml:2:1"; "" for an empty line
};

std::vector<TableLine> table_lines(const TomlTables& tables);

// "postgresql://wick:***@db/wick" of each text with a password.
JsonValue without_passwords(const JsonValue& value);

}  // namespace wick
