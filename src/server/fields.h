// The fields of requests in one table: name, type, range, the APIs that take it, what it sets. The
// readers of all APIs, the table in docs/api.md and /openapi.json are made from it. Immutable; any
// thread.
//
//   WICK_DO(read_fields(kChat, body, parsed));   // body: the request's object
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/json_value.h"
#include "server/parsed_request.h"

namespace wick::server {

enum class FieldKind : std::uint8_t {
  kNumber,
  kInteger,
  kBoolean,
  kText,
  kList,
  kObject,
  kAny,  // several of these; `set` looks
};
// "number", "integer", "boolean", "string", "array", "object", "any".
std::string_view name(FieldKind kind) noexcept;

struct Field {
  std::string_view name;
  FieldKind kind = FieldKind::kAny;
  double min = 0, max = 0;  // of numbers
  std::uint32_t apis = 0;   // bits of Api
  // The kind and range have been checked.
  Result<void> (*set)(const JsonValue& value, const Field& field, ParsedRequest& parsed) = nullptr;
  std::string_view key = {};   // of the sampler's parameter that it sets
  std::string_view rule = {};  // of an API key: its word in the file (http/keys.h); null removes it
  std::string_view help = {};  // half a line
  std::string_view setting = {};  // that it sets, as AnswerReport::ignored has it; "" = key, name
};

std::span<const Field> fields() noexcept;
const Field* find_field(Api api, std::string_view name) noexcept;  // nullptr if there is none
bool is_field(std::string_view name) noexcept;                     // of any API

// "0 to 1" of a field with a range, else empty.
std::string range_of(const Field& field);

// Sets `parsed` from the fields of `object`; null counts as absent. Names that this API does not
// know are added to parsed.ignored, the others to parsed.given. kInvalid for a wrong type or range.
Result<void> read_fields(Api api, const Object& object, ParsedRequest& parsed);

// Names of those of `given` that set one of `settings`, which a provider has ignored.
std::vector<std::string> names_of(std::span<const std::string> settings,
                                  std::span<const Field* const> given);

// "a number", "an array", …: what `value` is, for messages.
std::string_view kind_of(const JsonValue& value) noexcept;
// A number as text, or kind_of().
std::string seen(const JsonValue& value);
// A whole number, also one that is written 40.0.
std::optional<std::int64_t> whole(const JsonValue& value) noexcept;
// A number of either kind.
std::optional<double> real(const JsonValue& value) noexcept;

}  // namespace wick::server
