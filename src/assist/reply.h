// A model's answer read as a command or a question. Strict: what is not exactly one of the two is
// an error, never a command. Pure.
//
//   WICK_TRY(const Reply reply, read_reply(R"(Sure! {"cmd": "ls"})", Frame::kJson));
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "assist/limits.h"
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

// Finds a loop in an answer, as small models make them: the same 1 to kMaxLoopPeriod bytes at least
// four times in a row, where at least kMinLoop bytes repeat those before. How the text is divided
// into pieces does not matter.
class LoopFinder {
 public:
  // The answer's next piece. Returns is_found().
  bool add(std::string_view piece);

  bool is_found() const noexcept { return is_found_; }

 private:
  std::string text_ = {};
  // [p]: how many of the last bytes equal the byte p places before them.
  std::array<std::size_t, kMaxLoopPeriod + 1> same_ = {};
  bool is_found_ = false;
};

}  // namespace wick::assist
