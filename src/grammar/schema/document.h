// A JSON document as a tree that preserves the order of members and the spelling of numbers.
// Immutable once read; any thread. Values are views into the storage of their JsonDocument.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace wick::grammar {

struct Json {
  enum class Kind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string_view text = {};        // of a string its characters, of a number its spelling
  std::span<const Json> items = {};  // of an array, and the values of an object's members
  std::span<const std::string_view> keys = {};  // of an object, as long as items
  std::uint64_t marks = 0;  // mark() of each key: a compiler asks for absent ones mostly

  bool is(Kind what) const noexcept { return kind == what; }

  bool is_boolean() const noexcept { return kind == Kind::kTrue || kind == Kind::kFalse; }

  // The value of the member `name`; of duplicates the last one counts.
  const Json* find(std::string_view key) const noexcept {
    return (marks & mark(key)) == 0 ? nullptr : find_marked(key);
  }

  // A bit that few keywords have in common, and hardly one that holds schemas with one that does
  // not.
  static constexpr std::uint64_t mark(std::string_view key) noexcept {
    if (key.empty()) return 1;
    const auto code = [](char c) { return static_cast<unsigned char>(c); };
    const std::size_t bits = key.size() + code(key.front()) * 29U + code(key.back()) * 7U +
                             code(key[key.size() / 2]) * 59U;
    return std::uint64_t{1} << (bits % 64U);
  }

  // False: it has none of the members whose marks are in `some`.
  bool may_have(std::uint64_t some) const noexcept { return (marks & some) != 0; }

 private:
  const Json* find_marked(std::string_view key) const noexcept;
};

constexpr std::uint64_t marks_of(std::span<const std::string_view> keys) noexcept {
  std::uint64_t out = 0;
  for (const std::string_view key : keys)
    out |= Json::mark(key);
  return out;
}

constexpr std::uint64_t marks_of(std::initializer_list<std::string_view> keys) noexcept {
  return marks_of(std::span(keys.begin(), keys.size()));
}

// A value and the storage that it and all values within it point into. Copies share the storage.
struct JsonDocument {
  Json root = {};
  std::shared_ptr<const void> storage = {};

  // A value within `root` as a document.
  JsonDocument part(const Json& node) const { return {node, storage}; }
};

// Errors: text that is no JSON; more than kMaxSchemaValues values or kMaxSchemaDepth levels.
Result<JsonDocument> read_document(std::string_view text);

// The name of a kind as messages have it: "a number".
std::string_view described(Json::Kind kind) noexcept;

}  // namespace wick::grammar
