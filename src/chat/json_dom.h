// Copies a document of simdjson into a JsonValue. For sources of modules that link simdjson; chat/
// itself does not, so that programs with the library need none.
//
//   simdjson::dom::element root;
//   DomCopier copier(1000);
//   JsonValue value = copier.copy(root);
//   if (copier.is_full()) …   // it has more than 1000 values and keys
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "chat/json_value.h"

namespace wick {

// Parses small texts without an allocation for each. A document is valid until the next one. Make
// one for each thread.
class SmallJsonParser {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 10;  // bounds what it holds

  explicit SmallJsonParser(std::size_t max_depth) noexcept : max_depth_(max_depth) {}

  // simdjson::CAPACITY for a text that is empty or longer than kMaxBytes.
  simdjson::error_code parse(std::string_view text, simdjson::dom::element& root) {
    if (text.empty() || text.size() > kMaxBytes) return simdjson::CAPACITY;
    if (parser_.capacity() == 0) {
      if (const auto error = parser_.allocate(kMaxBytes, max_depth_)) return error;
    }
    std::memcpy(padded_.data(), text.data(), text.size());
    return parser_.parse(padded_.data(), text.size(), false).get(root);
  }

 private:
  const std::size_t max_depth_;
  simdjson::dom::parser parser_{kMaxBytes};
  std::array<char, kMaxBytes + simdjson::SIMDJSON_PADDING> padded_ = {};
};

// simdjson has checked the depth.
class DomCopier {
 public:
  explicit DomCopier(std::size_t max_values) noexcept : max_values_(max_values) {}

  bool is_full() const noexcept { return n_values_ > max_values_; }

  JsonValue copy(const simdjson::dom::element& from) {
    using simdjson::dom::element_type;
    if (++n_values_ > max_values_) return {};
    switch (from.type()) {
      case element_type::NULL_VALUE:
        return nullptr;
      case element_type::BOOL:
        return from.get_bool().value_unsafe();
      case element_type::INT64:
        return std::int64_t{from.get_int64().value_unsafe()};
      case element_type::UINT64:  // beyond 63 bits, as chat/json_value.cc has it
        return static_cast<double>(from.get_uint64().value_unsafe());
      case element_type::DOUBLE:
        return from.get_double().value_unsafe();
      case element_type::STRING:
        return from.get_string().value_unsafe();
      case element_type::ARRAY:
        return copy(from.get_array().value_unsafe());
      default:
        return copy(from.get_object().value_unsafe());
    }
  }

  Object copy(const simdjson::dom::object& from) {
    Object out;
    out.reserve(std::min(from.size(), kFirstItems));
    for (const auto& field : from) {
      if (++n_values_ > max_values_) break;
      out.set(field.key, copy(field.value));
    }
    return out;
  }

  Array copy(const simdjson::dom::array& from) {
    Array out;
    out.reserve(std::min(from.size(), kFirstItems));
    for (const auto& item : from) {
      if (is_full()) break;
      out.push_back(copy(item));
    }
    return out;
  }

 private:
  static constexpr std::size_t kFirstItems = 16;  // more are made room for as they come

  const std::size_t max_values_;
  std::size_t n_values_ = 0;
};

}  // namespace wick
