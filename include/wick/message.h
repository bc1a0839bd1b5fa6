// Messages of a conversation, and the tools a model may call. Plain data.
//
//   std::vector<wick::Message> talk = {{.role = "system", .content = "You are brief."},
//                                      {.content = "Which river flows through Paris?"}};
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wick/result.h"

namespace wick {

struct TextPart {
  std::string text = {};
};

// A model's reasoning before its answer. Chat templates see it as "reasoning_content".
struct ReasoningPart {
  std::string text = {};
};

// No model supports images yet: a request with one is refused (id "images_unsupported").
struct ImagePart {
  std::string url = {};  // "data:image/png;base64,…", or https
};

// A tool call of the model.
struct ToolCall {
  std::string id = {}, name = {};
  // JSON as the model wrote it, an object if it is valid. Formats with another syntax (tags,
  // Python) are converted to a JSON object.
  std::string arguments = {};
};

// The result of a tool call.
struct ToolResult {
  std::string call_id = {}, text = {};
};

using Part = std::variant<TextPart, ReasoningPart, ImagePart, ToolCall, ToolResult>;

// The content of a message: a text, or parts in order.
struct Content {
  std::vector<Part> parts = {};

  Content() = default;

  Content(std::string text) {  // implicit: a text is a content
    if (!text.empty()) parts.emplace_back(TextPart{std::move(text)});
  }

  Content(std::string_view text) : Content(std::string(text)) {}  // implicit

  Content(const char* text) : Content(std::string(text)) {}  // implicit

  Content(std::vector<Part> given)  // implicit
      : parts(std::move(given)) {}

  // The concatenated text of all parts of type Kind; text() omits reasoning.
  template <class Kind = TextPart>
  std::string text() const {
    std::string all;
    for (const Part& part : parts) {
      if (const auto* const found = std::get_if<Kind>(&part)) all += found->text;
    }
    return all;
  }
};

struct Message {
  // "system", "user", "assistant", "tool", or another role of the template.
  std::string role = "user";
  Content content = {};
};

// A tool the model may call. The caller runs it and sends a ToolResult.
struct Tool {
  std::string name = {}, description = {};
  std::string parameters = {};  // JSON schema of its arguments; empty = no arguments
  // OpenAI's `strict`, for remote models: a local model's arguments always match the schema.
  bool is_strict = false;
};

// Messages and tools as the JSON of OpenAI's API:
//   [{"role": "assistant", "content": "…", "reasoning_content": "…",
//     "tool_calls": [{"id": "…", "type": "function",
//                     "function": {"name": "…", "arguments": "…"}}]},
//    {"role": "tool", "content": "…", "tool_call_id": "…"}]
//   [{"type": "function",
//     "function": {"name": "…", "description": "…", "parameters": {…}}}]
// Errors: kInvalid (ids "bad_message", "bad_tool"), with the index of the faulty element.
WICK_API Result<std::vector<Message>> messages_from_json(std::string_view json);
WICK_API std::string messages_to_json(const std::vector<Message>& messages);
WICK_API Result<std::vector<Tool>> tools_from_json(std::string_view json);
// A JSON object, {"enable_thinking": false}, as Generation::template_variables.
WICK_API Result<std::vector<std::pair<std::string, std::string>>> variables_from_json(
    std::string_view json);

}  // namespace wick
