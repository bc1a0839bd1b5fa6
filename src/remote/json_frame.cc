// Nearly all frames are a few hundred bytes of sound JSON: simdjson reads these in a quarter of the
// time of parse_json(). Anything else is parse_json()'s, so that there is one set of limits and
// errors: text that simdjson refuses (also a byte order mark and integers beyond 64 bits), and
// surrogates, half of which simdjson 3.0 accepts.
#include "remote/json_frame.h"

#include <simdjson.h>

#include <optional>

#include "base/strings.h"
#include "chat/json_dom.h"
#include "chat/limits.h"

namespace wick::remote {

namespace {

std::optional<JsonValue> parse_small(std::string_view data) {
  constexpr std::string_view kSurrogates[] = {"\\ud", "\\uD"};
  for (const std::string_view one : kSurrogates) {
    if (data.find(one) != std::string_view::npos) return std::nullopt;
  }
  thread_local SmallJsonParser parser(kMaxJsonDepth);
  simdjson::dom::element root;
  if (parser.parse(data, root) != simdjson::SUCCESS) return std::nullopt;
  DomCopier copier(kMaxJsonValues);
  JsonValue value = copier.copy(root);
  if (copier.is_full()) return std::nullopt;
  return value;
}

}  // namespace

Result<JsonValue> parse_frame(std::string_view data) {
  if (auto value = parse_small(data)) return *std::move(value);
  auto parsed = parse_json(data);
  return parsed ? std::move(parsed) : parse_json(repair_utf8(data));
}

}  // namespace wick::remote
