// Separates a model's reasoning, for example <think>…</think>, from its answer. Only a pair at the
// start of the text counts: later it is text, for example in an answer about such markup. White
// space around the reasoning is dropped. Text that may become a marker is held back. One owner, one
// thread.
//
//   ReasoningSplit split(prompt ends inside a <think>, reasoning_marks_of(chat template));
//   split.push(piece, reasoning, text);   // appends to both
//   split.finish(reasoning, text);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wick {

// What a model writes around its reasoning.
struct ReasoningMarks {
  std::string_view open = "<think>", close = "</think>";
  std::string_view sign = "<think>";    // text by which a chat template is recognized
  std::string_view tokens[4] = {};      // control tokens that must be part of the text
  bool has_sections = false;            // the text has sections of the tool-call format, too
  std::string_view header_end = {};     // messages with headers: `header` … header_end … close
  std::string_view header_begins = {};  // … and the header of reasoning ends like `open`
};

// The marks that a chat template (Jinja) teaches; <think> if none of the rows.
const ReasoningMarks& reasoning_marks_of(std::string_view chat_template) noexcept;

class ReasoningSplit {
 public:
  explicit ReasoningSplit(bool is_inside, const ReasoningMarks& marks = reasoning_marks_of({}))
      : marks_(&marks),
        state_(is_inside                  ? State::kInside
               : marks.header_end.empty() ? State::kStart
                                          : State::kHeader) {}

  static ReasoningSplit off() {  // all is text
    ReasoningSplit split(false);
    split.state_ = State::kText;
    return split;
  }

  void push(std::string_view piece, std::string& reasoning, std::string& text);
  void finish(std::string& reasoning, std::string& text);

  std::size_t held() const noexcept { return held_.size(); }  // bytes that are not told yet

 private:
  enum class State { kStart, kInside, kBehind, kText, kHeader, kMessage };

  bool step(std::string& reasoning, std::string& text);
  bool step_start();
  bool step_inside(std::string& reasoning);
  bool step_header();
  bool step_message(std::string& text);

  const ReasoningMarks* marks_;
  State state_;
  bool has_thought_ = false;  // something of the reasoning was told
  std::string held_ = {};
  std::size_t n_spaces_ = 0;  // that held_ is known to begin with
};

// Whether an answer to this prompt begins inside of the reasoning that the prompt opens.
bool ends_inside_reasoning(std::string_view prompt,
                           const ReasoningMarks& marks = reasoning_marks_of({})) noexcept;

}  // namespace wick
