// A JSON document as a tree that preserves the order of members and the spelling of numbers. Plain
// values; immutable once read, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick::grammar {

struct Json {
  enum class Kind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text = {};               // of a string its characters, of a number its spelling
  std::vector<Json> items = {};        // of an array, and the values of an object's members
  std::vector<std::string> keys = {};  // of an object, as long as items
  std::uint64_t marks = 0;             // mark() of each key: a compiler asks for absent ones mostly

  // A new member of an object.
  Json& add(std::string_view key);

  bool is(Kind what) const noexcept { return kind == what; }

  bool is_boolean() const noexcept { return kind == Kind::kTrue || kind == Kind::kFalse; }

  // The value of the member `name`; of duplicates the last one counts.
  const Json* find(std::string_view key) const noexcept {
    return (marks & mark(key)) == 0 ? nullptr : find_marked(key);
  }

 private:
  // A bit that few keywords have in common.
  static constexpr std::uint64_t mark(std::string_view key) noexcept {
    if (key.empty()) return 1;
    const auto code = [](char c) { return static_cast<unsigned char>(c); };
    const std::size_t bits = key.size() * 13U + code(key.front()) * 5U + code(key.back()) * 3U;
    return std::uint64_t{1} << (bits % 64U);
  }

  const Json* find_marked(std::string_view key) const noexcept;
};

// Errors: text that is no JSON; more than kMaxSchemaValues values or kMaxSchemaDepth levels.
Result<Json> read_document(std::string_view text);

// The name of a kind as messages have it: "a number".
std::string_view described(Json::Kind kind) noexcept;

}  // namespace wick::grammar
