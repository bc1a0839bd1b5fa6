// The tool-call format of a chat template that no row of tool_format.h describes: conversations
// with calls whose names and values occur nowhere else are rendered, and the texts between them are
// the format's. It counts only if a render is read back as the calls that it holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chat/chat_template.h"
#include "toolcalls/tool_format.h"

namespace wick {

struct LearnedFormat {
  ToolFormat format = {};
  std::vector<std::unique_ptr<const std::string>> texts = {};  // that `format` refers to
};

// Null if the template's format could not be learned.
std::unique_ptr<const LearnedFormat> learn_tool_format(const ChatTemplate& tmpl);

}  // namespace wick
