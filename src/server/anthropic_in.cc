// What Anthropic's fields say otherwise than OpenAI's: blocks of content, system, thinking.
#include "server/errors.h"
#include "server/messages_in.h"
#include "server/setters.h"

namespace wick::server {

namespace {

// A tool's result: a string, or blocks of text.
Result<Part> read_result(const Object& block, const std::string& path) {
  ToolResult result{.call_id = text_at(block, "tool_use_id")};
  if (const JsonValue* const content = block.find("content")) {
    WICK_TRY(auto parts, read_content(*content, cat(path, ".content")));
    result.text = Content(std::move(parts)).text();
  }
  return Part(std::move(result));
}

Result<Part> read_block(const JsonValue& value, const std::string& path) {
  const Object* const block = value.object();
  const std::string type = block == nullptr ? "" : text_at(*block, "type");
  if (type == "thinking") return Part(ReasoningPart{text_at(*block, "thinking")});
  if (type == "redacted_thinking") return Part(ReasoningPart{});
  if (type == "tool_result") return read_result(*block, path);
  if (type == "tool_use") {
    const JsonValue* const input = block->find("input");
    return Part(ToolCall{.id = text_at(*block, "id"),
                         .name = text_at(*block, "name"),
                         .arguments = input == nullptr ? "{}" : to_json(*input)});
  }
  return read_part(value, path);
}

Result<Message> read_turn(const JsonValue& value, const std::string& path) {
  const Object* const object = value.object();
  if (object == nullptr) return bad_field(path, "is ", seen(value), ", wanted is an object");
  Message message{.role = text_at(*object, "role")};
  if (message.role != "user" && message.role != "assistant" && message.role != "system") {
    return bad_field(cat(path, ".role"), "is '", printable(message.role, 40),
                     "', known are user and assistant");
  }
  const JsonValue* const content = object->find("content");
  if (content == nullptr) return bad_field(cat(path, ".content"), "is missing");
  if (content->array() == nullptr) {
    WICK_TRY(message.content.parts, read_content(*content, cat(path, ".content")));
    return message;
  }
  for (std::size_t i = 0; i < content->array()->size(); ++i) {
    WICK_TRY(Part part, read_block((*content->array())[i], cat(path, ".content[", i, "]")));
    message.content.parts.push_back(std::move(part));
  }
  return message;
}

}  // namespace

SetResult set_blocks(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  if (value.array()->empty()) return bad_field(field.name, "is an empty array");
  std::vector<Message> messages;
  for (std::size_t i = 0; i < value.array()->size(); ++i) {
    WICK_TRY(Message message, read_turn((*value.array())[i], cat(field.name, "[", i, "]")));
    messages.push_back(std::move(message));
  }
  parsed.request.prompt = std::move(messages);
  return {};
}

SetResult set_system(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_TRY(auto parts, read_content(value, std::string(field.name)));
  parsed.system = Content(std::move(parts)).text();
  return {};
}

SetResult set_thinking(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const std::string type = text_at(*value.object(), "type");
  if (type != "enabled" && type != "disabled" && type != "adaptive") {
    return bad_field(cat(field.name, ".type"), "is '", printable(type, 40),
                     "', known are enabled, disabled and adaptive");
  }
  if (type != "adaptive") parsed.request.generation.thinking = type == "enabled";
  return {};
}

}  // namespace wick::server
