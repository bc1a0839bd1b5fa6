// What simdjson refuses and parse_json() takes (json_frame.cc) is written as plain JSON and parsed
// again: rare, and then there is one kind of frame.
#include "remote/json_view.h"

#include <simdjson.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "chat/json_dom.h"
#include "chat/limits.h"
#include "remote/json_frame.h"
#include "remote/json_read.h"

namespace wick::remote {

using simdjson::dom::element;
using simdjson::dom::element_type;

struct JsonAccess {
  static Json of(element value) { return value.is_null() ? Json() : std::bit_cast<Json>(value); }

  static element in(const Json& value) { return std::bit_cast<element>(value); }

  // False: it is none, or of another type.
  template <class T>
  static bool get(const Json& value, T& out) {
    return value && in(value).get(out) == simdjson::SUCCESS;
  }
};

namespace {

bool has_surrogate(std::string_view data) {
  for (std::size_t at = data.find("\\u"); at != std::string_view::npos;
       at = data.find("\\u", at + 2)) {
    if (at + 2 < data.size() && (data[at + 2] == 'd' || data[at + 2] == 'D')) return true;
  }
  return false;
}

}  // namespace

void Json::find_all(std::span<const std::string_view> keys, std::span<Json> found) const {
  simdjson::dom::object object;
  if (!JsonAccess::get(*this, object)) return;
  constexpr std::size_t kSizes = 64;
  std::uint64_t sizes = 0;  // of the keys: most fields have another one
  for (const std::string_view key : keys)
    sizes |= std::uint64_t{1} << key.size() % kSizes;
  const auto end = object.end();
  for (auto field = object.begin(); field != end; ++field) {
    const std::string_view name = field.key();
    if ((sizes >> name.size() % kSizes & 1U) == 0) continue;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (name == keys[i]) found[i] = JsonAccess::of(field.value());
    }
  }
}

Json Json::find(std::string_view key) const {
  Json found;
  find_all({&key, 1}, {&found, 1});
  return found;
}

std::optional<std::string_view> Json::text() const {
  std::string_view text;
  if (!JsonAccess::get(*this, text)) return std::nullopt;
  return text;
}

std::optional<double> Json::number() const {
  double number = 0;
  if (!JsonAccess::get(*this, number)) return std::nullopt;
  return number;
}

bool Json::is_true() const {
  bool is_true = false;
  return JsonAccess::get(*this, is_true) && is_true;
}

bool Json::is_object() const {
  return *this && JsonAccess::in(*this).type() == element_type::OBJECT;
}

bool Json::is_array() const {
  return *this && JsonAccess::in(*this).type() == element_type::ARRAY;
}

JsonValue Json::copy() const {
  if (!*this) return {};
  return DomCopier(kMaxJsonValues).copy(JsonAccess::in(*this));
}

void Json::each(const std::function<void(Json)>& visit) const {
  simdjson::dom::array items;
  if (!JsonAccess::get(*this, items)) return;
  for (const element item : items)
    visit(JsonAccess::of(item));
}

std::string_view view_of(Json value) {
  return value.text().value_or(std::string_view());
}

std::string text_of(Json value) {
  return std::string(view_of(value));
}

std::string text_of(Json value, std::string_view key) {
  return text_of(value.find(key));
}

std::optional<int> to_count(Json value) {
  const auto number = value.number();
  if (!number || !(*number >= 0 && *number <= kMaxCount) || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int> count_at(Json value, std::string_view key) {
  return to_count(value.find(key));
}

int count_of(Json value, std::string_view key, int fallback) {
  return count_at(value, key).value_or(fallback);
}

std::string to_json(Json value) {
  return wick::to_json(value.copy());
}

Result<void> read_frame(std::string_view data, const std::function<void(Json frame)>& visit) {
  thread_local SmallJsonParser small(kMaxJsonDepth);
  element root;
  if (!has_surrogate(data) && small.parse(data, root) == simdjson::SUCCESS) {
    visit(JsonAccess::of(root));
    return {};
  }
  WICK_TRY(const JsonValue value, parse_frame(data));
  simdjson::dom::parser parser;
  const std::string plain = wick::to_json(value);
  if (parser.parse(plain).get(root) != simdjson::SUCCESS)
    return Error{.code = ErrorCode::kInvalid, .id = "json_syntax", .message = "no plain JSON"};
  visit(JsonAccess::of(root));
  return {};
}

}  // namespace wick::remote
