// The data of a conversation as an insertion-ordered tree: messages with text or parts, tools,
// documents, any variable that a template may read. It is JSON's data model with Python's ints and
// floats kept apart, because templates print them. A JsonValue is a plain value: copy it, move it;
// one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace wick {

class JsonValue;
using Array = std::vector<JsonValue>;

// Insertion-ordered; a key that is set again keeps its place. Lookup is by hash once there are more
// than a handful of keys, so that a hostile request cannot make it slow.
class Object {
 public:
  using Item = std::pair<std::string, JsonValue>;

  JsonValue* find(std::string_view key) noexcept;
  const JsonValue* find(std::string_view key) const noexcept;
  JsonValue& operator[](std::string_view key);  // inserts null if absent
  void set(std::string_view key, JsonValue value);
  void erase(std::string_view key);  // nothing happens if absent; the others keep their order
  void reserve(std::size_t n);

  std::size_t size() const noexcept;
  bool empty() const noexcept;
  std::vector<Item>::const_iterator begin() const noexcept;
  std::vector<Item>::const_iterator end() const noexcept;

 private:
  std::size_t position(std::string_view key) const noexcept;  // size() if absent
  void append(std::string_view key, JsonValue value);         // a key that is absent
  void rebuild_index();

  std::vector<Item> items_;
  // Open addressing over items_, power of two, 0 = free, else position + 1; empty while items_ is
  // short enough to scan.
  std::vector<std::uint32_t> index_;
};

class JsonValue {
 public:
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

  JsonValue() = default;

  JsonValue(std::nullptr_t) {}  // implicit

  JsonValue(bool value) : data_(value) {}  // implicit

  // Beyond 2^63 a text: readers of JSON lose digits of such a number.
  template <std::integral T>

  requires(!std::same_as<T, bool> && !std::same_as<T, char>) JsonValue(T value) {  // implicit
    if (std::in_range<std::int64_t>(value)) {
      data_ = static_cast<std::int64_t>(value);
    } else {
      data_ = std::to_string(value);
    }
  }

  JsonValue(double value) : data_(value) {}  // implicit

  JsonValue(const char* value) : data_(std::string(value)) {}  // implicit

  JsonValue(std::string value) : data_(std::move(value)) {}  // implicit

  JsonValue(std::string_view value) : data_(std::string(value)) {}  // implicit

  JsonValue(Array value) : data_(std::move(value)) {}  // implicit

  JsonValue(Object value) : data_(std::move(value)) {}  // implicit

  const Data& data() const noexcept { return data_; }

  Data& data() noexcept { return data_; }

  bool is_null() const noexcept { return data_.index() == 0; }

  const bool* boolean() const noexcept { return std::get_if<bool>(&data_); }

  const std::int64_t* integer() const noexcept { return std::get_if<std::int64_t>(&data_); }

  const double* number() const noexcept { return std::get_if<double>(&data_); }

  const std::string* string() const noexcept { return std::get_if<std::string>(&data_); }

  const Array* array() const noexcept { return std::get_if<Array>(&data_); }

  const Object* object() const noexcept { return std::get_if<Object>(&data_); }

  Array* array() noexcept { return std::get_if<Array>(&data_); }

  Object* object() noexcept { return std::get_if<Object>(&data_); }

 private:
  Data data_ = nullptr;
};

inline void Object::reserve(std::size_t n) {
  items_.reserve(n);
}

inline std::size_t Object::size() const noexcept {
  return items_.size();
}

inline bool Object::empty() const noexcept {
  return items_.empty();
}

inline std::vector<Object::Item>::const_iterator Object::begin() const noexcept {
  return items_.begin();
}

inline std::vector<Object::Item>::const_iterator Object::end() const noexcept {
  return items_.end();
}

// json_object({{"id", 7}, {"name", "x"}})
Object json_object(std::initializer_list<std::pair<std::string_view, JsonValue>> fields);

// Two equal keys of one object: the later one wins, as in Python; or an error, for a text that
// another program will read too and may understand the other way.
enum class DuplicateKeys : std::uint8_t { kLastWins, kError };

// JSON text to a JsonValue and back. Bytes, values and depth are limited (chat/limits.h); an
// integer beyond 64 bits becomes a floating-point number. to_json writes what Python's
// json.dumps(ensure_ascii=False) writes: ", " and ": " between, floats as repr prints them.
Result<JsonValue> parse_json(std::string_view text,
                             DuplicateKeys duplicates = DuplicateKeys::kLastWins);
std::string to_json(const JsonValue& value);

}  // namespace wick
