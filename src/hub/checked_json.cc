#include "hub/checked_json.h"

#include <nlohmann/json.hpp>

#include "base/strings.h"

namespace wick {

namespace {

// Brackets outside of strings; on text that is no JSON the parser speaks the last word.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_string) {
      if (c == '\\') ++i;
      if (c == '"') is_string = false;
    } else if (c == '"') {
      is_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxStoreJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<nlohmann::json> parse_checked_json(std::string_view text, std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    return Error{
        .code = ErrorCode::kCorrupt, .id = "bad_json", .message = cat(printable(what), " ", why)};
  };
  if (is_too_deep(text))
    return refuse(cat("is nested deeper than ", kMaxStoreJsonDepth, " levels"));
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return refuse("is not valid JSON");
  return json;
}

std::optional<std::string> json_text(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::uint64_t> json_count(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace wick
