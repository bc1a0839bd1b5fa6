#include "server/messages_in.h"

#include "server/errors.h"
#include "server/fields.h"
#include "server/limits.h"

namespace wick::server {

std::string text_at(const Object& object, std::string_view name) {
  const JsonValue* const value = object.find(name);
  return value == nullptr || value->string() == nullptr ? "" : *value->string();
}

namespace {

struct PartKind {
  std::string_view type, text;  // the name of what holds its text
  std::string_view refused_as = {};
};

constexpr PartKind kParts[] = {
    {"text", "text"},
    {"input_text", "text"},
    {"output_text", "text"},
    {"refusal", "refusal"},
    {"image_url", "", "images_unsupported"},
    {"input_image", "", "images_unsupported"},
    {"image", "", "images_unsupported"},
    {"input_audio", "", "audio_unsupported"},
    {"video_url", "", "video_unsupported"},
    {"file", "", "files_unsupported"},
    {"input_file", "", "files_unsupported"},
    {"document", "", "files_unsupported"},
};

}  // namespace

Result<Part> read_part(const JsonValue& value, const std::string& path) {
  if (value.string() != nullptr) return Part(TextPart{*value.string()});
  if (value.object() == nullptr) {
    return bad_field(path, "is ", seen(value), ", wanted is an object with a type");
  }
  const std::string type = text_at(*value.object(), "type");
  for (const PartKind& kind : kParts) {
    if (kind.type != type) continue;
    if (!kind.refused_as.empty()) {
      return unsupported_field(std::string(kind.refused_as), path, "is of the type '", type,
                               "', the models here take text alone");
    }
    const JsonValue* const text = value.object()->find(kind.text);
    if (text == nullptr || text->string() == nullptr) {
      return bad_field(cat(path, ".", kind.text), "is missing, wanted is a string");
    }
    return Part(TextPart{*text->string()});
  }
  return bad_field(cat(path, ".type"), "is '", printable(type, 40), "', known is 'text'");
}

namespace {

// Behind the parts that are there.
Result<void> add_content(const JsonValue& content, const std::string& path,
                         std::vector<Part>& parts) {
  if (content.is_null()) return {};
  if (const std::string* const text = content.string()) {
    if (!text->empty()) parts.emplace_back(TextPart{*text});
    return {};
  }
  if (content.array() == nullptr) {
    return bad_field(path, "is ", seen(content), ", wanted is a string or an array of parts");
  }
  for (std::size_t i = 0; i < content.array()->size(); ++i) {
    WICK_TRY(Part part, read_part((*content.array())[i], cat(path, "[", i, "]")));
    parts.push_back(std::move(part));
  }
  return {};
}

}  // namespace

Result<std::vector<Part>> read_content(const JsonValue& content, const std::string& path) {
  std::vector<Part> parts;
  WICK_DO(add_content(content, path, parts));
  return parts;
}

namespace {

Result<ToolCall> read_call(const JsonValue& value, const std::string& path) {
  const Object* const call = value.object();
  const JsonValue* const inner = call == nullptr ? nullptr : call->find("function");
  const Object* const function = inner == nullptr ? nullptr : inner->object();
  if (function == nullptr || text_at(*function, "name").empty()) {
    return bad_field(path, "has no function with a name");
  }
  ToolCall out{.id = text_at(*call, "id"), .name = text_at(*function, "name")};
  const JsonValue* const arguments = function->find("arguments");
  if (arguments == nullptr || arguments->is_null()) {
    out.arguments = "{}";
  } else {
    out.arguments = arguments->string() != nullptr ? *arguments->string() : to_json(*arguments);
  }
  return out;
}

// By the first of its names that has a text; the last one is Ollama's.
void add_reasoning(const Object& object, std::vector<Part>& parts) {
  for (const std::string_view name : {"reasoning_content", "reasoning", "thinking"}) {
    const JsonValue* const value = object.find(name);
    const std::string* const text = value == nullptr ? nullptr : value->string();
    if (text == nullptr || text->empty()) continue;
    parts.emplace_back(ReasoningPart{*text});
    return;
  }
}

Result<void> read_calls(const Object& object, const std::string& path, std::vector<Part>& parts) {
  const JsonValue* const calls = object.find("tool_calls");
  if (calls == nullptr || calls->is_null()) return {};
  if (calls->array() == nullptr) {
    return bad_field(cat(path, ".tool_calls"), "is ", seen(*calls), ", wanted is an array");
  }
  for (std::size_t i = 0; i < calls->array()->size(); ++i) {
    WICK_TRY(ToolCall call, read_call((*calls->array())[i], cat(path, ".tool_calls[", i, "]")));
    parts.emplace_back(std::move(call));
  }
  return {};
}

}  // namespace

Result<Message> read_message(const JsonValue& value, const std::string& path) {
  const Object* const object = value.object();
  if (object == nullptr) return bad_field(path, "is ", seen(value), ", wanted is an object");
  Message message{.role = text_at(*object, "role")};
  if (message.role.empty()) return bad_field(cat(path, ".role"), "is missing, wanted is a string");
  if (message.role == "developer") message.role = "system";
  const JsonValue* const images = object->find("images");
  if (images != nullptr && images->array() != nullptr && !images->array()->empty()) {
    return unsupported_field("images_unsupported", cat(path, ".images"),
                             "are set, the models here take text alone");
  }
  std::vector<Part>& parts = message.content.parts;
  const bool is_result = message.role == "tool";
  if (!is_result) add_reasoning(*object, parts);
  if (const JsonValue* const content = object->find("content"))
    WICK_DO(add_content(*content, cat(path, ".content"), parts));
  if (is_result) {
    std::string said = message.content.text();
    parts.clear();
    parts.emplace_back(
        ToolResult{.call_id = text_at(*object, "tool_call_id"), .text = std::move(said)});
    return message;
  }
  WICK_DO(read_calls(*object, path, parts));
  return message;
}

namespace {

Result<Tool> read_tool(const JsonValue& value, const std::string& path) {
  const Object* const object = value.object();
  if (object == nullptr) return bad_field(path, "is ", seen(value), ", wanted is an object");
  const std::string type = text_at(*object, "type");
  if (!type.empty() && type != "function" && type != "custom") {
    return unsupported_field("tool_unsupported", cat(path, ".type"), "is '", printable(type, 40),
                             "', supported is 'function'");
  }
  if (type == "custom" && object->find("input_schema") == nullptr) {  // Anthropic's has one
    return unsupported_field("tool_unsupported", cat(path, ".type"),
                             "is 'custom' without an input_schema; supported is 'function'");
  }
  const JsonValue* const inner = object->find("function");
  const Object& function =
      inner != nullptr && inner->object() != nullptr ? *inner->object() : *object;
  Tool tool{.name = text_at(function, "name"), .description = text_at(function, "description")};
  if (tool.name.empty()) return bad_field(path, "has no function with a name");
  const JsonValue* schema = function.find("parameters");
  if (schema == nullptr) schema = function.find("input_schema");
  if (schema != nullptr && !schema->is_null()) tool.parameters = to_json(*schema);
  const JsonValue* const strict = function.find("strict");
  tool.is_strict = strict != nullptr && strict->boolean() != nullptr && *strict->boolean();
  return tool;
}

}  // namespace

Result<std::vector<Message>> read_messages(const Array& array, std::string_view path) {
  if (array.empty()) return bad_field(path, "is an empty array, wanted is at least one message");
  std::vector<Message> messages;
  messages.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    auto message = read_message(array[i], {});
    // The path is made for an error alone.
    if (!message) return read_message(array[i], cat(path, "[", i, "]")).error();
    messages.push_back(*std::move(message));
  }
  return messages;
}

Result<std::vector<Tool>> read_tools(const Array& array, std::string_view path) {
  if (array.size() > kMaxTools) {
    return bad_field(path, "has ", array.size(), " tools, allowed are ", kMaxTools);
  }
  std::vector<Tool> tools;
  for (std::size_t i = 0; i < array.size(); ++i) {
    WICK_TRY(Tool tool, read_tool(array[i], cat(path, "[", i, "]")));
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace wick::server
