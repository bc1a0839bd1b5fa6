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
     .arguments_key = "arguments",
     .marks = {"<tool_call>", "arguments"}},
    {.name = "llama3",
     .arguments_key = "parameters",
     .marks = {R"({"name": function name, "parameters": )", "tools"}},
};

}  // namespace

const ToolFormat* tool_format_of(std::string_view chat_template) noexcept {
  const auto has = [&](std::string_view mark) {
    return chat_template.find(mark) != std::string_view::npos;
  };
  const auto at = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const ToolFormat& f) {
    return has(f.marks[0]) && has(f.marks[1]);
  });
  return at == std::end(kFormats) ? nullptr : &*at;
}

const ToolFormat& hermes_tool_format() noexcept {
  return kFormats[1];
}

}  // namespace wick
