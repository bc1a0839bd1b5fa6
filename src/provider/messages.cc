#include "provider/messages.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"

namespace wick {

namespace {

JsonValue to_value(const ToolCall& call) {
  return json_object(
      {{"id", call.id},
       {"type", "function"},
       {"function", json_object({{"name", call.name}, {"arguments", call.arguments}})}});
}

// One object for what is neither result nor image; a result is a message of its own.
void append(const Message& message, Array& out) {
  Object object = json_object({{"role", message.role}, {"content", message.content.text()}});
  const std::string reasoning = message.content.text<ReasoningPart>();
  if (!reasoning.empty()) object["reasoning_content"] = reasoning;
  Array calls;
  bool has_result = false, has_other = message.content.parts.empty();
  for (const Part& part : message.content.parts) {
    if (const auto* const call = std::get_if<ToolCall>(&part)) calls.push_back(to_value(*call));
    if (const auto* const result = std::get_if<ToolResult>(&part)) {
      has_result = true;
      out.emplace_back(json_object(
          {{"role", "tool"}, {"content", result->text}, {"tool_call_id", result->call_id}}));
    } else {
      has_other = true;
    }
  }
  if (has_result && !has_other) return;
  if (!calls.empty()) object["tool_calls"] = std::move(calls);
  out.emplace_back(std::move(object));
}

const JsonValue* find(const JsonValue& value, std::string_view key) {
  const Object* const object = value.object();
  return object == nullptr ? nullptr : object->find(key);
}

std::string field(const JsonValue& value, std::string_view key) {
  const JsonValue* const found = find(value, key);
  return found == nullptr || found->string() == nullptr ? "" : *found->string();
}

Error bad_message(std::size_t index, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_message",
          .message = cat("message ", index + 1, " ", what)};
}

Result<void> read_content(const JsonValue& content, std::size_t index, std::vector<Part>& parts) {
  if (content.is_null()) return {};
  if (const std::string* const text = content.string()) {
    if (!text->empty()) parts.emplace_back(TextPart{*text});
    return {};
  }
  if (content.array() == nullptr) return bad_message(index, "has a content that is no text");
  for (const JsonValue& part : *content.array()) {
    const std::string type = field(part, "type");
    if (type == "text") {
      parts.emplace_back(TextPart{field(part, "text")});
    } else if (type == "image_url") {
      const JsonValue* const image = find(part, "image_url");
      parts.emplace_back(ImagePart{std::string(image == nullptr ? "" : field(*image, "url"))});
    } else {
      return bad_message(index, cat("has a part of the type '", printable(type),
                                    "', known are text and image_url"));
    }
  }
  return {};
}

Result<Message> read_message(const JsonValue& value, std::size_t index) {
  Message message{.role = field(value, "role")};
  if (message.role.empty()) return bad_message(index, "has no role");
  std::vector<Part>& parts = message.content.parts;
  if (message.role == "tool") {
    parts.emplace_back(
        ToolResult{.call_id = field(value, "tool_call_id"), .text = field(value, "content")});
    return message;
  }
  const std::string reasoning = field(value, "reasoning_content");
  if (!reasoning.empty()) parts.emplace_back(ReasoningPart{reasoning});
  if (const JsonValue* const content = find(value, "content")) {
    WICK_DO(read_content(*content, index, parts));
  }
  const JsonValue* const calls = find(value, "tool_calls");
  if (calls == nullptr || calls->is_null()) return message;
  if (calls->array() == nullptr) return bad_message(index, "has tool_calls that are no array");
  for (const JsonValue& call : *calls->array()) {
    const JsonValue* const function = find(call, "function");
    const JsonValue* const arguments = function == nullptr ? nullptr : find(*function, "arguments");
    if (arguments == nullptr) return bad_message(index, "has a tool call without a function");
    parts.emplace_back(ToolCall{
        .id = field(call, "id"),
        .name = field(*function, "name"),
        .arguments = arguments->string() != nullptr ? *arguments->string() : to_json(*arguments)});
  }
  return message;
}

}  // namespace

Array to_array(std::span<const Message> messages) {
  Array array;
  for (const Message& message : messages)
    append(message, array);
  return array;
}

Result<std::vector<Message>> to_messages(const Array& array) {
  std::vector<Message> messages;
  for (std::size_t i = 0; i < array.size(); ++i) {
    WICK_TRY(Message message, read_message(array[i], i));
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<std::vector<Message>> messages_from_json(std::string_view json) {
  WICK_TRY(const JsonValue value, parse_json(json));
  if (value.array() != nullptr) return to_messages(*value.array());
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_message",
               .message = "messages are a JSON array of objects"};
}

std::string messages_to_json(const std::vector<Message>& messages) {
  return to_json(JsonValue(to_array(messages)));
}

Result<std::vector<Tool>> tools_from_json(std::string_view json) {
  WICK_TRY(const JsonValue value, parse_json(json));
  std::vector<Tool> tools;
  for (const JsonValue& row : value.array() != nullptr ? *value.array() : Array{JsonValue()}) {
    const JsonValue* const function = find(row, "function");
    if (function == nullptr || field(*function, "name").empty()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_tool",
                   .message = cat("tool ", tools.size() + 1, " has no function with a name"),
                   .hint = R"([{"type": "function", "function": {"name": …}}])"};
    }
    const JsonValue* const parameters = find(*function, "parameters");
    const JsonValue* const strict = find(*function, "strict");
    tools.push_back({.name = field(*function, "name"),
                     .description = field(*function, "description"),
                     .parameters = parameters == nullptr ? "" : to_json(*parameters),
                     .is_strict = strict != nullptr && strict->boolean() != nullptr &&
                                  *strict->boolean()});
  }
  return tools;
}

Result<std::vector<std::pair<std::string, std::string>>> variables_from_json(
    std::string_view json) {
  WICK_TRY(const JsonValue value, parse_json(json));
  if (value.object() == nullptr) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_variable",
                 .message = "template variables are a JSON object"};
  }
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [name, one] : *value.object())
    variables.emplace_back(name, to_json(one));
  return variables;
}

namespace {

Error unsupported(std::string id, std::string message) {
  return {.code = ErrorCode::kUnsupported, .id = std::move(id), .message = std::move(message)};
}

// Templates read arguments as an object (transformers hands them one); what is none stays a text.
void parse_arguments(Array& messages) {
  for (JsonValue& message : messages) {
    JsonValue* const calls = message.object()->find("tool_calls");
    if (calls == nullptr) continue;
    for (JsonValue& call : *calls->array()) {
      JsonValue& arguments = *call.object()->find("function")->object()->find("arguments");
      auto parsed = parse_json(*arguments.string());
      if (parsed && parsed->object() != nullptr) arguments = *std::move(parsed);
    }
  }
}

// Arguments are an object.
bool may_be_object(const JsonValue& schema) {
  const JsonValue* const type = schema.object()->find("type");
  if (type == nullptr) return true;
  if (type->string() != nullptr) return *type->string() == "object";
  if (type->array() == nullptr) return false;
  return std::any_of(type->array()->begin(), type->array()->end(), [](const JsonValue& one) {
    return one.string() != nullptr && *one.string() == "object";
  });
}

Result<Array> tools_of(const Generation& generation) {
  Array tools;
  for (const Tool& tool : generation.tools) {
    Object function = json_object({{"name", tool.name}, {"description", tool.description}});
    auto schema = parse_json(tool.parameters.empty() ? R"({"type": "object", "properties": {}})"
                                                     : tool.parameters);
    if (tool.name.empty() || !schema || schema->object() == nullptr || !may_be_object(*schema)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_tool",
                   .message = cat("the tool '", printable(tool.name),
                                  "' needs a name, and parameters that are a schema of objects"),
                   .hint = R"(parameters = {"type": "object", "properties": {…}})"};
    }
    function["parameters"] = *std::move(schema);
    tools.emplace_back(json_object({{"type", "function"}, {"function", std::move(function)}}));
  }
  return tools;
}

Result<void> check_tool_choice(const Generation& generation) {
  const std::string& choice = generation.tool_choice;
  const std::vector<Tool>& tools = generation.tools;
  if (choice.empty() || choice == "auto" || choice == "none") return {};
  if (choice == "required" && !tools.empty()) return {};
  if (std::any_of(tools.begin(), tools.end(), [&](const Tool& t) { return t.name == choice; }))
    return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_tool_choice",
               .message = cat("the tool choice is '", printable(choice), "', and the request has ",
                              tools.empty() ? "no tools" : "no tool of that name"),
               .hint = "auto, none, required, or the name of one of the request's tools"};
}

// Names that a client must not set: the request's own, and those whose text a template writes as
// control tokens (chat/chat_template.h).
constexpr std::string_view kReserved[] = {"messages",  "tools",     "bos_token",
                                          "cls_token", "eos_token", "mask_token",
                                          "pad_token", "sep_token", "unk_token"};

}  // namespace

Result<Object> template_context(std::span<const Message> messages, const Generation& generation) {
  for (const Message& message : messages) {
    for (const Part& part : message.content.parts) {
      if (std::holds_alternative<ImagePart>(part)) {
        return unsupported("images_unsupported", "the model takes no images");
      }
    }
  }
  const std::string& choice = generation.tool_choice;
  WICK_DO(check_tool_choice(generation));
  Object context;
  Array array = to_array(messages);
  parse_arguments(array);
  context["messages"] = std::move(array);
  WICK_TRY(Array tools, tools_of(generation));
  if (!tools.empty() && choice != "none") context["tools"] = std::move(tools);
  if (generation.thinking) {
    for (const std::string_view name : {"enable_thinking", "thinking"})  // both names are in use
      context[name] = *generation.thinking;
  }
  for (const auto& [name, json] : generation.template_variables) {
    auto value = parse_json(json);
    const auto* const reserved = std::find(std::begin(kReserved), std::end(kReserved), name);
    if (!value || name.empty() || reserved != std::end(kReserved)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_variable",
                   .message = !value ? cat("the template variable '", printable(name),
                                           "' is not JSON: ", printable(json))
                                     : cat("'", printable(name),
                                           "' cannot be set as a variable of the template"),
                   .hint = !value ? "a text needs its quotes: date=\"1 May 2026\"" : ""};
    }
    context[name] = *std::move(value);
  }
  return context;
}

Message to_message(const Completion& completion) {
  Message message{.role = "assistant"};
  if (!completion.reasoning.empty())
    message.content.parts.emplace_back(ReasoningPart{completion.reasoning});
  if (!completion.text.empty()) message.content.parts.emplace_back(TextPart{completion.text});
  for (const ToolCall& call : completion.tool_calls)
    message.content.parts.emplace_back(call);
  return message;
}

}  // namespace wick
