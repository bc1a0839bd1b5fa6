// Typed, total reading of a JSON object's fields. Absent and null read as nullopt; a value of
// another kind is an error that names file, field, value seen and kind wanted. Borrows the object.
// Internal to this module.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

class JsonFields {
 public:
  // `object` must be an object and outlive this.
  JsonFields(const nlohmann::json& object, std::string_view path) : object_(&object), path_(path) {}

  const nlohmann::json* find(const char* name) const;                   // nullptr: absent or null
  Result<std::optional<std::int64_t>> integer(const char* name) const;  // 4096.0 is one too
  Result<std::optional<double>> number(const char* name) const;
  Result<std::optional<bool>> boolean(const char* name) const;
  Result<std::optional<std::string>> text(const char* name) const;
  // The object in field `name`; nullopt also where it has no fields.
  Result<std::optional<JsonFields>> object(const char* name) const;

  // "config.json: 'hidden_size' is 'big', wanted an integer"
  Error error(const char* name, const std::string& wanted) const;

 private:
  const nlohmann::json* object_;  // never null
  std::string path_;
};

}  // namespace wick
