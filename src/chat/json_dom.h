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

// Parses small texts without an allocation for each. A document is valid until the next one; the
// same text again is not parsed again. Make one for each thread.
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
    if (text.size() == parsed_bytes_ &&
        std::memcmp(padded_.data(), text.data(), text.size()) == 0) {
      root = parser_.doc.root();
      return simdjson::SUCCESS;
    }
    std::memcpy(padded_.data(), text.data(), text.size());
    const auto error = parser_.parse(padded_.data(), text.size(), false).get(root);
    parsed_bytes_ = error == simdjson::SUCCESS ? text.size() : 0;
    return error;
  }

 private:
  const std::size_t max_depth_;
  std::size_t parsed_bytes_ = 0;  // of padded_, which the document is of; 0: none
  simdjson::dom::parser parser_{kMaxBytes};
  std::array<char, kMaxBytes + simdjson::SIMDJSON_PADDING> padded_ = {};
};

// simdjson has checked the depth.
class DomCopier {
 public:
  explicit DomCopier(std::size_t max_values) noexcept : max_values_(max_values) {}

  bool is_full() const noexcept { return n_values_ > max_values_; }

  JsonValue copy(const simdjson::dom::element& from) {
    JsonValue out;
    copy_to(out, from);
    return out;
  }

  Object copy(const simdjson::dom::object& from) {
    Object out;
    copy_to(out, from);
    return out;
  }

  Array copy(const simdjson::dom::array& from) {
    Array out;
    copy_to(out, from);
    return out;
  }

 private:
  // Where it stays: to move a value costs as much as to copy a short one.
  void copy_to(JsonValue& out, const simdjson::dom::element& from) {
    using simdjson::dom::element_type;
    if (++n_values_ > max_values_) return;
    JsonValue::Data& data = out.data();
    switch (from.type()) {
      case element_type::NULL_VALUE:
        data = nullptr;  // of a key that had another value before
        return;
      case element_type::BOOL:
        data = from.get_bool().value_unsafe();
        return;
      case element_type::INT64:
        data = std::int64_t{from.get_int64().value_unsafe()};
        return;
      case element_type::UINT64:  // beyond 63 bits, as chat/json_value.cc has it
        data = static_cast<double>(from.get_uint64().value_unsafe());
        return;
      case element_type::DOUBLE:
        data = from.get_double().value_unsafe();
        return;
      case element_type::STRING:
        data.emplace<std::string>(from.get_string().value_unsafe());
        return;
      case element_type::ARRAY:
        return copy_to(data.emplace<Array>(), from.get_array().value_unsafe());
      default:
        return copy_to(data.emplace<Object>(), from.get_object().value_unsafe());
    }
  }

  void copy_to(Object& out, const simdjson::dom::object& from) {
    out.reserve(std::min(from.size(), kFirstItems));
    for (const auto& field : from) {
      if (++n_values_ > max_values_) break;
      copy_to(out[field.key], field.value);
    }
  }

  void copy_to(Array& out, const simdjson::dom::array& from) {
    out.reserve(std::min(from.size(), kFirstItems));
    for (const auto& item : from) {
      if (is_full()) break;
      copy_to(out.emplace_back(), item);
    }
  }

  static constexpr std::size_t kFirstItems = 16;  // more are made room for as they come

  const std::size_t max_values_;
  std::size_t n_values_ = 0;
};

}  // namespace wick
