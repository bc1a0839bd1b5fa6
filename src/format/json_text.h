// JSON from foreign files: bounded in depth before the parser sees it, never throwing. Internal to
// this module; the JSON library is included in .cc files only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

enum class JsonNames : bool {
  kLastWins,  // as Python reads it
  kUnique     // an outermost name that appears twice is an error
};

// The document that `text` holds: an object, at most kMaxHeaderJsonDepth deep. `path` is for
// messages.
Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view path,
                                         JsonNames names = JsonNames::kLastWins);

// "'abc'", "17", "an object": a value as messages show it.
std::string shown(const nlohmann::json& value);

}  // namespace wick
