// What the fields of /v1/responses say: items, formats, efforts.
#include "server/errors.h"
#include "server/messages_in.h"
#include "server/setters.h"

namespace wick::server {

namespace {

Result<std::string> text_of_item(const Object& item, std::string_view key,
                                 const std::string& path) {
  const JsonValue* const value = item.find(key);
  if (value == nullptr) return std::string();
  WICK_TRY(auto parts, read_content(*value, cat(path, ".", key)));
  return Content(std::move(parts)).text();
}

std::string reasoning_of(const Object& item) {
  std::string text;
  for (const char* const key : {"content", "summary"}) {
    const JsonValue* const parts = item.find(key);
    if (!text.empty() || parts == nullptr || parts->array() == nullptr) continue;
    for (const JsonValue& part : *parts->array()) {
      if (part.object() != nullptr) text += text_at(*part.object(), "text");
    }
  }
  return text;
}

// One item of the input becomes a message, or a part of the assistant's last one.
Result<void> read_item(const JsonValue& value, const std::string& path,
                       std::vector<Message>& talk) {
  const Object* const item = value.object();
  if (item == nullptr) return bad_field(path, "is ", seen(value), ", wanted is an object");
  const std::string type = text_at(*item, "type");
  const auto add_to_assistant = [&](Part part) {
    if (talk.empty() || talk.back().role != "assistant") talk.push_back({.role = "assistant"});
    talk.back().content.parts.push_back(std::move(part));
  };
  if (type.empty() || type == "message") {
    WICK_TRY(Message one, read_message(value, path));
    const bool joins = one.role == "assistant" && !talk.empty() &&
                       talk.back().role == "assistant" && talk.back().content.text().empty();
    if (!joins) return talk.push_back(std::move(one)), Result<void>();
    for (Part& part : one.content.parts)
      talk.back().content.parts.push_back(std::move(part));
    return {};
  }
  if (type == "function_call") {
    add_to_assistant(ToolCall{.id = text_at(*item, "call_id"),
                              .name = text_at(*item, "name"),
                              .arguments = text_at(*item, "arguments")});
    return {};
  }
  if (type == "function_call_output") {
    WICK_TRY(std::string text, text_of_item(*item, "output", path));
    Message result{.role = "tool"};
    result.content.parts.emplace_back(
        ToolResult{.call_id = text_at(*item, "call_id"), .text = std::move(text)});
    talk.push_back(std::move(result));
    return {};
  }
  if (type == "reasoning")
    return add_to_assistant(ReasoningPart{reasoning_of(*item)}), Result<void>();
  return unsupported_field("item_unsupported", cat(path, ".type"), "is '", printable(type, 40),
                           "', supported are message, function_call, function_call_output and "
                           "reasoning");
}

}  // namespace

SetResult set_items(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  std::vector<Message> talk;
  if (value.string() != nullptr) {
    talk.push_back({.content = *value.string()});
  } else if (value.array() != nullptr && !value.array()->empty()) {
    for (std::size_t i = 0; i < value.array()->size(); ++i)
      WICK_DO(read_item((*value.array())[i], cat(field.name, "[", i, "]"), talk));
  } else {
    return bad_field(field.name, "is ", seen(value), ", wanted is a string or items");
  }
  parsed.request.prompt = std::move(talk);
  return {};
}

SetResult set_instructions(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.system = *value.string();
  return {};
}

SetResult set_previous(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.previous_id = *value.string();
  return {};
}

SetResult set_store(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.is_stored = *value.boolean();
  return {};
}

SetResult set_reasoning(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const JsonValue* const effort = value.object()->find("effort");
  if (effort == nullptr || effort->is_null()) return {};
  if (effort->string() == nullptr) {
    return bad_field(cat(field.name, ".effort"), "is ", seen(*effort), ", wanted is a string");
  }
  return set_reasoning_effort(*effort, field, parsed);
}

}  // namespace wick::server
