// Tool calls of a local model: what a request with tools adds to its prompt, and
// how the calls are named.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "chat/json_value.h"
#include "toolcalls/tool_calls.h"
#include "wick/generation.h"
#include "wick/token.h"

namespace wick {

// Whether the model may call tools in this answer.
bool may_call_tools(const Generation& generation) noexcept;

// Whether it has to: tool_choice is "required" or a tool's name.
bool must_call_tools(const Generation& generation) noexcept;

// Whether a template's context has tools, or calls or results of tools.
bool uses_tools(const Object& context) noexcept;

// For a chat template that shows no tools: describes them in the system message (without one of its
// own, in the first message), and writes calls and results of the conversation as text, in the
// format of Hermes.
void write_tools_as_text(Object& context, bool has_system);

// The tools whose calls are looked for in the answer.
std::vector<ToolSignature> tool_signatures(const Generation& generation);

// Nine letters and digits, as Mistral's templates want them. The same prompt gives the same ids.
std::string call_id(std::span<const TokenId> prompt, int index);

}  // namespace wick
