// Reads fields of foreign JSON that may be missing or of another type. Pure functions; a null
// pointer means a missing value.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "chat/json_value.h"

namespace wick::remote {

inline const JsonValue* find(const JsonValue* value, std::string_view key) {
  const Object* const object = value == nullptr ? nullptr : value->object();
  const JsonValue* const found = object == nullptr ? nullptr : object->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

inline std::string text_of(const JsonValue* value) {
  const std::string* const text = value == nullptr ? nullptr : value->string();
  return text == nullptr ? std::string() : *text;
}

inline std::string text_of(const JsonValue* value, std::string_view key) {
  return text_of(find(value, key));
}

// A count of tokens or an index: negative and too large numbers are `fallback`.
inline int count_of(const JsonValue* value, std::string_view key, int fallback = 0) {
  const JsonValue* const found = find(value, key);
  const std::int64_t* const number = found == nullptr ? nullptr : found->integer();
  if (number == nullptr || *number < 0 || *number > std::numeric_limits<int>::max()) {
    return fallback;
  }
  return static_cast<int>(*number);
}

inline const Array& items_of(const JsonValue* value, std::string_view key) {
  static const Array kNone;
  const JsonValue* const found = find(value, key);
  const Array* const array = found == nullptr ? nullptr : found->array();
  return array == nullptr ? kNone : *array;
}

// Of an array of numbers; what is none is left out.
inline std::vector<float> numbers_of(const JsonValue& value) {
  std::vector<float> out;
  if (value.array() == nullptr) return out;
  for (const JsonValue& item : *value.array()) {
    if (const double* const real = item.number()) out.push_back(static_cast<float>(*real));
    if (const std::int64_t* const whole = item.integer()) out.push_back(static_cast<float>(*whole));
  }
  return out;
}

}  // namespace wick::remote
