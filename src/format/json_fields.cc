#include "format/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "format/json_text.h"
#include "format/model_parts.h"

namespace wick {

namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: up to here each whole double is an integer

// Whole, and inside int64.
std::optional<std::int64_t> whole(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (!(std::fabs(number) <= kExact) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

const nlohmann::json* JsonFields::find(const char* name) const {
  const auto at = object_->find(name);
  return at == object_->end() || at->is_null() ? nullptr : &*at;
}

Result<std::optional<std::int64_t>> JsonFields::integer(const char* name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::optional<std::int64_t>();
  const auto number = whole(*value);
  if (!number) return error(name, "an integer");
  return number;
}

Result<std::optional<double>> JsonFields::number(const char* name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return error(name, "a number");
  return std::optional(value->get<double>());
}

Result<std::optional<bool>> JsonFields::boolean(const char* name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_boolean()) return error(name, "true or false");
  return std::optional(value->get<bool>());
}

Result<std::optional<std::string>> JsonFields::text(const char* name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return error(name, "a string");
  return std::optional(value->get<std::string>());
}

Result<std::optional<JsonFields>> JsonFields::object(const char* name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::optional<JsonFields>();
  if (!value->is_object()) return error(name, "an object");
  if (value->empty()) return std::optional<JsonFields>();
  return std::optional(JsonFields(*value, path_));
}

Error JsonFields::error(const char* name, const std::string& wanted) const {
  const auto at = object_->find(name);
  return corrupt("bad_config",
                 cat(printable(path_), ": '", name, "' is ",
                     at == object_->end() ? "missing" : shown(*at), ", wanted ", wanted));
}

}  // namespace wick
