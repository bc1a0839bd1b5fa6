#include "format/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/strings.h"
#include "format/limits.h"
#include "format/model_parts.h"

namespace wick {

namespace {

struct Nesting {
  int deepest = 0;
  int open = 0;  // brackets that the text leaves open
};

// Counts brackets outside strings. It judges depth only: whether they match is the parser's
// business, and a text that confuses this count is no JSON.
Nesting nesting(std::string_view text) noexcept {
  Nesting seen;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      seen.deepest = std::max(seen.deepest, ++seen.open);
    } else if (c == '}' || c == ']') {
      --seen.open;
    }
  }
  return seen;
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view path,
                                         JsonNames names) {
  using nlohmann::json;
  const Nesting depth = nesting(text);
  if (depth.deepest > kMaxJsonDepth) {
    return corrupt("deep_json", cat(printable(path), ": JSON is nested ", depth.deepest,
                                    " levels deep, wanted at most ", kMaxJsonDepth));
  }
  std::vector<std::string> seen;
  const json::parser_callback_t note_name = [&](int level, json::parse_event_t event, json& value) {
    if (level == 1 && event == json::parse_event_t::key) {
      seen.push_back(value.get_ref<const std::string&>());
    }
    return true;
  };
  const bool is_unique = names == JsonNames::kUnique;
  json document = json::parse(text.begin(), text.end(),
                              is_unique ? note_name : json::parser_callback_t(), false);
  if (document.is_discarded()) {
    if (depth.open > 0) {
      return truncated("truncated_json", cat(printable(path), ": JSON ends after ", text.size(),
                                             " bytes with ", depth.open, " brackets open"));
    }
    return corrupt("bad_json", cat(printable(path), ": is not valid JSON"));
  }
  if (!document.is_object()) {
    return corrupt("bad_json",
                   cat(printable(path), ": holds ", shown(document), ", wanted a JSON object"));
  }
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    return corrupt("duplicate_tensor",
                   cat(printable(path), ": '", printable(*twice), "' appears twice"));
  }
  return document;
}

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return cat("an array of ", value.size());
  if (value.is_string()) return cat("'", printable(value.get_ref<const std::string&>()), "'");
  return value.dump();
}

}  // namespace wick
