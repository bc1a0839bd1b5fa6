// Tool-call formats: how a model writes a call of a tool, as its chat template teaches it. One row
// each (tool_format_data.cc). A template of none of these is learned (learned_format.h).
#pragma once

#include <span>
#include <string_view>

namespace wick {

// The texts of a call whose parameters stand between tags:
//   before_name f name_end … head_end (before_key k key_end … value_open v value_end)* call_end
struct TagStyle {
  std::string_view before_name = {};
  std::string_view name_end = {};  // empty: the name ends before a line break or `before_key`
  std::string_view head_end = {};  // empty: nothing stands between the name and the parameters
  std::string_view before_key = {}, key_end = {};
  std::string_view value_open = {};  // empty: the value follows the key
  std::string_view value_end = {}, call_end = {};
  bool has_lines = false;  // a line break before and behind each value is not part of it
  // What stands between key_end and value_open of a string, and of another value.
  std::string_view text_mark = {}, json_mark = {};
  bool has_cdata = false;  // a value may be <![CDATA[…]]>
};

struct ToolFormat {
  enum class Body {
    kJson,    // {"name": "f", "arguments": {…}}, or an array of such
    kKeyed,   // [{"f": {…}}]
    kName,    // f, `behind_name`, {…}
    kTags,    // TagStyle
    kPython,  // [f(a="b", c=1), g()]
    kGemma,   // call:f{a:<|"|>b<|"|>,c:1}
    kNested,  // tags in tags, each behind `mark`
  };

  std::string_view name = {};
  Body body = Body::kJson;
  // Around the body. Without `open` a call is the whole answer, and calls are separated by ';'.
  std::string_view open = {}, close = {};
  std::string_view space = {};        // what models write between these and the body
  std::string_view between = {};      // … and between two calls
  std::string_view before_name = {};  // of kName: "function<｜tool▁sep｜>"
  std::string_view behind_name = {};  // of kName
  // Behind `open`: what follows is text, not a call. A prompt may then end with `open`.
  std::string_view text_head = {};
  std::string_view name_key = "name";   // of kJson
  std::string_view arguments_key = {};  // of kJson; "arguments" and "parameters" are read as equals
  TagStyle tags = {};
  std::string_view mark = {};                         // of kNested
  bool has_list = false;                              // the body is always an array
  std::string_view tokens[12] = {};                   // control tokens that a call holds
  std::string_view sections[5] = {};                  // texts outside of calls, which are dropped
  std::string_view before_all = {}, behind_all = {};  // what models write around all calls
  std::string_view marks[2] = {};  // texts by which a chat template is recognized

  // Whether the body may be an array of calls.
  constexpr bool is_array() const noexcept {
    return body == Body::kJson || body == Body::kKeyed || body == Body::kPython;
  }
};

// Qwen3-Coder's tags, which models with Hermes' markers write, too.
extern const TagStyle kFunctionTags;

// White space between the parts of a call.
constexpr bool is_call_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// `text` without white space at its ends.
constexpr std::string_view without_call_spaces(std::string_view text) noexcept {
  while (!text.empty() && is_call_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_call_space(text.back()))
    text.remove_suffix(1);
  return text;
}

// The format that a chat template (Jinja) teaches; null if none of these.
const ToolFormat* tool_format_of(std::string_view chat_template) noexcept;

// The row of that name; null if there is none.
const ToolFormat* tool_format_named(std::string_view name) noexcept;

// In the order in which marks are looked for.
std::span<const ToolFormat> tool_formats() noexcept;

// Hermes 2 and 3, Qwen 2.5 and 3, and models whose template has no tools.
const ToolFormat& hermes_tool_format() noexcept;

}  // namespace wick
