// What a chat template can do, found out without guessing at names of models: which variables it
// reads, and whether what a conversation says reaches the prompt. Pure function, any thread.
#pragma once

#include "chat/chat_template.h"

namespace wick {

struct TemplateFacts {
  bool has_system = false;     // a system message reaches the prompt
  bool has_tools = false;      // the template reads "tools", and a tool's name reaches the prompt
  bool has_documents = false;  // it reads "documents"
  bool has_thinking = false;   // it reads a switch for thinking, or keeps a message's reasoning
};

TemplateFacts facts_of(const ChatTemplate& tmpl);

}  // namespace wick
