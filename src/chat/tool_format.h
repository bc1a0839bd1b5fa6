// Tool-call formats: how a model writes a call of a tool, as its chat template teaches it. One row
// each (tool_format.cc).
#pragma once

#include <string_view>

namespace wick {

struct ToolFormat {
  enum class Body {
    kJson,  // {"name": "f", "arguments": {…}}, or an array of such
    kXml,   // <function=f> <parameter=k> value </parameter> … </function>
    kName,  // f, `behind_name`, {…}
  };

  std::string_view name = {};
  Body body = Body::kJson;
  // Around the body. Without `open` a call is the whole answer, and calls are separated by ';'.
  std::string_view open = {}, close = {};
  std::string_view space = {};          // what models write between these and the body
  std::string_view behind_name = {};    // of kName
  bool can_be_required = false;         // its markers are no control tokens
  std::string_view tokens[6] = {};      // control tokens that a call holds
  std::string_view sections[2] = {};    // texts around all calls, which are dropped
  std::string_view arguments_key = {};  // of kJson; "arguments" and "parameters" are read as equals
  std::string_view marks[2] = {};       // texts by which a chat template is recognized
};

// White space between the parts of a call.
constexpr bool is_call_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The format that a chat template (Jinja) teaches; null if none of these.
const ToolFormat* tool_format_of(std::string_view chat_template) noexcept;

// Hermes 2 and 3, Qwen 2.5 and 3, and models whose template has no tools.
const ToolFormat& hermes_tool_format() noexcept;

}  // namespace wick
