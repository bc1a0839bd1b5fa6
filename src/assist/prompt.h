// The prompt that asks a model for a command: facts about the machine, two worked examples in the
// user's shell, the sentence. Whatever the machine gives (names, a branch, piped input) is data: a
// JSON string. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assist/machine.h"
#include "wick/generation.h"
#include "wick/message.h"

namespace wick::assist {

// The form of the answer.
enum class Frame : std::uint8_t {
  kJson,   // {"cmd": "…"} or {"ask": "…"}
  kLine,   // one line, "ask: …" for a question
  kFence,  // a fenced block in any text, "ask: …" for a question
};

// A command or a question as an answer of this form has it.
std::string framed(std::string_view command, Frame frame);
std::string framed_question(std::string_view question, Frame frame);

// Which facts the prompt has.
struct Facts {
  bool has_platform = true;  // system and tool family
  bool has_tools = true;
  bool has_listing = true;  // cwd and the names in it
  bool has_git = true;
  bool has_input = true;  // what was piped in
};

struct Ask {
  std::string sentence = {};
  std::string input = {};  // piped in beside the sentence; cut to kMaxInput bytes
};

std::vector<Message> make_prompt(const Machine& machine, const Ask& ask, const Facts& facts,
                                 Frame frame);

// What the answer is held to. `is_remote`: a schema that every API takes, "text" for the other
// forms. `is_retry`: a fenced command is one simple line.
ResponseFormat reply_format(Frame frame, bool is_remote, bool is_retry);

}  // namespace wick::assist
