// What people, models and tools say to each other, and the tools a model may call. Plain data.
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

// What a model thought before it answered. Chat templates see it as "reasoning_content".
struct ReasoningPart {
  std::string text = {};
};

// No model takes images yet: a request with one is refused, id "images_unsupported".
struct ImagePart {
  std::string url = {};  // "data:image/png;base64,…", or https
};

// A model's wish that a tool be run.
struct ToolCall {
  std::string id = {}, name = {};
  std::string arguments = {};  // a JSON object, as the model wrote it
};

// What came of a call.
struct ToolResult {
  std::string call_id = {}, text = {};
};

using Part = std::variant<TextPart, ReasoningPart, ImagePart, ToolCall, ToolResult>;

// A text, or parts in order.
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

  // The text of all parts of one kind: text() without reasoning.
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
  std::string role = "user";  // "system", "user", "assistant", "tool", or what the template knows
  Content content = {};
};

// What a model may ask to be run. The caller runs it and answers with a ToolResult.
struct Tool {
  std::string name = {}, description = {};
  std::string parameters = {};  // the JSON schema of its arguments; empty = it has none
};

// Both in the JSON that OpenAI's API takes:
//   [{"role": "assistant", "content": "…", "reasoning_content": "…",
//     "tool_calls": [{"id": "…", "type": "function",
//                     "function": {"name": "…", "arguments": "…"}}]},
//    {"role": "tool", "content": "…", "tool_call_id": "…"}]
//   [{"type": "function",
//     "function": {"name": "…", "description": "…", "parameters": {…}}}]
// kInvalid, ids "bad_message" and "bad_tool", with the number of the one that makes no sense.
WICK_API Result<std::vector<Message>> messages_from_json(std::string_view json);
WICK_API std::string messages_to_json(const std::vector<Message>& messages);
WICK_API Result<std::vector<Tool>> tools_from_json(std::string_view json);
// An object, {"enable_thinking": false}, as Generation::template_variables.
WICK_API Result<std::vector<std::pair<std::string, std::string>>> variables_from_json(
    std::string_view json);

}  // namespace wick
