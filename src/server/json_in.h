// The JSON of a request, by simdjson: UTF-8 is checked, depth and counts are limited
// (server/limits.h), of equal keys the last wins. Pure function, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"

namespace wick::server {

// kInvalid, id "invalid_json", if it is not JSON or no object.
Result<Object> read_body(std::string_view body);
// The same for a body that is a list.
Result<Array> read_list(std::string_view body);
// A text of the object, without reading the rest; "" if there is none, or the body is wrong.
std::string read_text(std::string_view body, std::string_view key);

}  // namespace wick::server
