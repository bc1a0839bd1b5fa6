// Chat with a model through its chat template: `wick chat` and `wick run MODEL PROMPT`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"

namespace wick {

struct ChatOptions : AskOptions {
  std::string system = {}, session_file = {};
  bool has_session_file = false;
  std::vector<std::string> variables = {};
  std::optional<bool> thinking = {};
  std::string tools = {}, tool_choice = {};  // a file or JSON; as Generation::tool_choice
};

// One answer if there is a prompt or standard input is no terminal, else a conversation.
Result<int> run_chat(const ChatOptions& options);

}  // namespace wick
