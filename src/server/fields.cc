#include "server/fields.h"

#include <algorithm>
#include <cmath>

#include "server/errors.h"
#include "server/limits.h"

namespace wick::server {

std::string_view name(FieldKind kind) noexcept {
  constexpr std::string_view kNames[] = {"number", "integer", "boolean", "string",
                                         "array",  "object",  "any"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Field* find_field(Api api, std::string_view name) noexcept {
  const auto rows = fields();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Field& field) {
    return (field.apis & api) != 0 && field.name == name;
  });
  return row == rows.end() ? nullptr : &*row;
}

bool is_field(std::string_view name) noexcept {
  const auto rows = fields();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Field& field) { return field.name == name; });
}

std::string range_of(const Field& field) {
  return field.min == field.max ? "" : cat(field.min, " to ", field.max);
}

std::string_view kind_of(const JsonValue& value) noexcept {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "a number", "a number",
                                         "a string", "an array",  "an object"};
  return kNames[value.data().index()];
}

std::string seen(const JsonValue& value) {
  if (const auto* const integer = value.integer()) return std::to_string(*integer);
  if (const auto* const number = value.number()) return cat(*number);
  return std::string(kind_of(value));
}

std::optional<std::int64_t> whole(const JsonValue& value) noexcept {
  if (const auto* const integer = value.integer()) return *integer;
  const auto* const number = value.number();
  if (number == nullptr || *number != std::floor(*number) || !(std::fabs(*number) < 0x1p53)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::optional<double> real(const JsonValue& value) noexcept {
  if (const auto* const integer = value.integer()) return static_cast<double>(*integer);
  if (const auto* const number = value.number()) return *number;
  return std::nullopt;
}

namespace {

constexpr std::size_t kUsualFields = 16;  // of a request

bool is_kind(const JsonValue& value, FieldKind kind) noexcept {
  switch (kind) {
    case FieldKind::kNumber:
      return real(value).has_value();
    case FieldKind::kInteger:
      return whole(value).has_value();
    case FieldKind::kBoolean:
      return value.boolean() != nullptr;
    case FieldKind::kText:
      return value.string() != nullptr;
    case FieldKind::kList:
      return value.array() != nullptr;
    case FieldKind::kObject:
      return value.object() != nullptr;
    default:
      return true;
  }
}

std::string_view wanted(FieldKind kind) noexcept {
  constexpr std::string_view kNames[] = {
      "a number", "a whole number", "true or false", "a string", "an array", "an object", ""};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<void> check(const JsonValue& value, const Field& field) {
  if (!is_kind(value, field.kind)) {
    return bad_field(field.name, "is ", seen(value), ", wanted is ", wanted(field.kind));
  }
  if (field.min == field.max) return {};
  const auto number = real(value);
  if (!number || (*number >= field.min && *number <= field.max)) return {};
  return bad_field(field.name, "is ", seen(value), ", allowed are ", range_of(field));
}

std::string_view setting_of(const Field& field) noexcept {
  if (!field.setting.empty()) return field.setting;
  return field.key.empty() ? field.name : field.key;
}

}  // namespace

// "tools.strict" is a part of what the field "tools" sets.
std::vector<std::string> names_of(std::span<const std::string> settings,
                                  std::span<const Field* const> given) {
  std::vector<std::string> names;
  for (const Field* const field : given) {
    for (const std::string& setting : settings) {
      const std::string_view head = std::string_view(setting).substr(0, setting.find('.'));
      if (head != setting_of(*field) && setting != setting_of(*field)) continue;
      names.emplace_back(head == field->name ? setting : field->name);
    }
  }
  return names;
}

Result<void> read_fields(Api api, const Object& object, ParsedRequest& parsed) {
  parsed.given.reserve(parsed.given.size() + std::min(object.size(), kUsualFields));
  for (const auto& [name, value] : object) {
    const Field* const field = find_field(api, name);
    if (field == nullptr) {
      if (parsed.ignored.size() < kMaxIgnoredNames) parsed.ignored.push_back(name);
      continue;
    }
    if (!field->rule.empty()) parsed.keys.given.emplace_back(field->rule);
    if (value.is_null()) continue;
    parsed.given.push_back(field);
    WICK_DO(check(value, *field));
    WICK_DO(field->set(value, *field, parsed));
  }
  return {};
}

}  // namespace wick::server
