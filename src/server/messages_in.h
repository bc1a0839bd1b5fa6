// Messages and tools of OpenAI's JSON. Errors name the place: "messages[2].role is missing". Pure
// functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/json_value.h"
#include "wick/message.h"

namespace wick::server {

// `path` is the field's name. "developer" becomes "system"; images, sound and files are refused by
// name.
Result<std::vector<Message>> read_messages(const Array& array, std::string_view path);
// One of them, at `path`.
Result<Message> read_message(const JsonValue& value, const std::string& path);
// A string, null, or parts of text.
Result<std::vector<Part>> read_content(const JsonValue& content, const std::string& path);
// One part of text; the place of an error is `path` itself.
Result<Part> read_part(const JsonValue& value, const std::string& path);
// OpenAI's, those of its Responses ({"type": "function", "name": …}), and Anthropic's.
Result<std::vector<Tool>> read_tools(const Array& array, std::string_view path);

// The text of that name, empty if there is none.
std::string text_at(const Object& object, std::string_view name);

}  // namespace wick::server
