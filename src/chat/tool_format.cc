#include "chat/tool_format.h"

#include <algorithm>

namespace wick {

namespace {

using Body = ToolFormat::Body;

// The first row whose marks are in the template wins. Qwen3-Coder's and Qwen 3.5's templates have
// the tags of Hermes as well.
constexpr ToolFormat kFormats[] = {
    {.name = "qwen3-coder",
     .body = Body::kXml,
     .open = "<tool_call>",
     .close = "</tool_call>",
     .space = "\n",
     .marks = {"<function=", "<parameter="}},
    {.name = "hermes",
     .open = "<tool_call>",
     .close = "</tool_call>",
     .space = "\n",
     .can_be_required = true,
     .arguments_key = "arguments",
     .marks = {"<tool_call>", "arguments"}},
    {.name = "deepseek-v3",
     .body = Body::kName,
     .open = "<｜tool▁call▁begin｜>",
     .close = "```<｜tool▁call▁end｜>",
     .behind_name = "\n```json\n",
     .tokens = {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},
     .sections = {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},
     .marks = {"<｜tool▁sep｜>", "```json"}},
    {.name = "deepseek-v3.1",
     .body = Body::kName,
     .open = "<｜tool▁call▁begin｜>",
     .close = "<｜tool▁call▁end｜>",
     .behind_name = "<｜tool▁sep｜>",
     .tokens = {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},
     .sections = {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},
     .marks = {"<｜tool▁sep｜>", "<｜tool▁call▁begin｜>"}},
    {.name = "kimi-k2",
     .body = Body::kName,
     .open = "<|tool_call_begin|>",
     .close = "<|tool_call_end|>",
     .behind_name = "<|tool_call_argument_begin|>",
     .tokens = {"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"},
     .sections = {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"},
     .marks = {"<|tool_call_begin|>", "<|tool_call_argument_begin|>"}},
    {.name = "mistral",
     .body = Body::kName,
     .open = "[TOOL_CALLS]",
     .behind_name = "[ARGS]",
     .tokens = {"[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"},
     .marks = {"[TOOL_CALLS]", "[ARGS]"}},
    {.name = "mistral-nemo",
     .open = "[TOOL_CALLS]",
     .tokens = {"[TOOL_CALLS]"},
     .arguments_key = "arguments",
     .marks = {"[TOOL_CALLS]", "tool"}},
    {.name = "llama3",
     .can_be_required = true,
     .arguments_key = "parameters",
     .marks = {R"({"name": function name, "parameters": )", "tools"}},
};

}  // namespace

const ToolFormat* tool_format_of(std::string_view chat_template) noexcept {
  const auto has = [&](std::string_view mark) {
    return chat_template.find(mark) != std::string_view::npos;
  };
  if (has("<arg_key>")) return nullptr;  // GLM's, which has Hermes' markers and no JSON
  const auto at = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const ToolFormat& f) {
    return has(f.marks[0]) && has(f.marks[1]);
  });
  return at == std::end(kFormats) ? nullptr : &*at;
}

const ToolFormat& hermes_tool_format() noexcept {
  return kFormats[1];
}

}  // namespace wick
