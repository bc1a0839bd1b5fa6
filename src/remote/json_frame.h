// The JSON of a frame of a stream, or of a whole answer. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"

namespace wick::remote {

// Invalid UTF-8 is repaired, as a text of the answer would be.
Result<JsonValue> parse_frame(std::string_view data);

}  // namespace wick::remote
