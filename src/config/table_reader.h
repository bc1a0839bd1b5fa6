// Reads one table of config.toml: checks it against its rows (config/tables.h), then gives the
// values by key. Its errors have the place of the key in the file. One thread.
//
//   TableReader table(config_table("limits"), "[limits]", "limits", value, file.places);
//   const std::string store = table.text("store");
//   WICK_DO(table.end());
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/json_value.h"
#include "config/tables.h"
#include "config/toml_file.h"

namespace wick {

class TableReader {
 public:
  // `shown` begins the messages: "[[provider]] 2"; `path` is the place of `value` in the file:
  // "provider/1". A value of the wrong type and an unknown key make end() an error; such values,
  // like those that are not there, are read as the fallback. All arguments outlive the reader.
  TableReader(const ConfigTable& rows, std::string shown, std::string path, const JsonValue& value,
              const TomlPlaces& places);

  std::string text(std::string_view key);  // of a choice, too
  std::int64_t whole(std::string_view key, std::int64_t fallback);
  double number(std::string_view key, double fallback);
  std::optional<bool> truth(std::string_view key);
  std::vector<std::string> texts(std::string_view key);  // a text is a list of one
  const JsonValue* value(std::string_view key);          // nullptr if it is not there

  // By a parser of "5 USD" and the like; a text that it refuses makes end() an error.
  template <class T>
  std::optional<T> parsed(std::string_view key, Result<T> (*parse)(std::string_view)) {
    if (value(key) == nullptr) return std::nullopt;
    auto read = parse(text(key));
    if (read) return *read;
    fail(key, std::move(read).error());
    return std::nullopt;
  }

  // The first failure is that of end().
  void fail(std::string_view key, std::string_view what);
  void fail(std::string_view key, Error error);

  const std::string& path() const noexcept { return path_; }

  Result<void> end() const;

 private:
  void check(const Field& field, const JsonValue& value);

  const ConfigTable& rows_;
  const std::string shown_, path_;
  const Object* fields_ = nullptr;
  const TomlPlaces& places_;
  std::optional<Error> error_;
};

}  // namespace wick
