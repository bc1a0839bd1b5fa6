// A model's answer read as a command or a question. Strict: what is not exactly one of the two is
// an error, never a command. Pure.
//
//   WICK_TRY(const Reply reply, read_reply(R"(Sure! {"cmd": "ls"})", Frame::kJson));
#pragma once

#include <string>
#include <string_view>

#include "assist/prompt.h"
#include "base/result.h"

namespace wick::assist {

struct Reply {
  bool is_question = false;
  std::string text = {};  // the command, or the question
};

// kJson: fences, text around and <think>…</think> are skipped; two objects that differ are an
// error. kInvalid, id "bad_reply": a sentence for the model's next turn.
Result<Reply> read_reply(std::string_view text, Frame frame);

}  // namespace wick::assist
