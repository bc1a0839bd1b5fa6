// Small JSON from foreign files as a tree: bounded in depth before the parser sees it, never
// throwing; the library itself is included in .cc files only. Large files, which are nearly all
// lists, are read piece by piece instead (format/json_reader.h).
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
