// Reads fields of foreign JSON that may be missing or of another type. Pure functions; a null
// pointer means a missing value.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
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

// More tokens than any context has; the sums of all answers of a request fit in an int.
inline constexpr int kMaxCount = 10'000'000;

// A count of tokens or an index, also written as 7.0; none for negative and too large numbers.
inline std::optional<int> count_at(const JsonValue* value, std::string_view key) {
  const JsonValue* const found = find(value, key);
  if (found == nullptr) return std::nullopt;
  if (const std::int64_t* const whole = found->integer()) {
    if (*whole < 0 || *whole > kMaxCount) return std::nullopt;
    return static_cast<int>(*whole);
  }
  const double* const real = found->number();
  if (real == nullptr || !(*real >= 0 && *real <= kMaxCount) || *real != std::floor(*real))
    return std::nullopt;
  return static_cast<int>(*real);
}

inline int count_of(const JsonValue* value, std::string_view key, int fallback = 0) {
  return count_at(value, key).value_or(fallback);
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
