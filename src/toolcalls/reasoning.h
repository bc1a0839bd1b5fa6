// Separates a model's reasoning, <think>…</think>, from its answer. Only a pair at the start of the
// text counts: later it is text, for example in an answer about such markup. White space around the
// reasoning is dropped. Text that may become a marker is held back. One owner, one thread.
//
//   ReasoningSplit split(prompt ends inside a <think>);
//   split.push(piece, reasoning, text);   // appends to both; reasoning always comes first
//   split.finish(reasoning, text);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wick {

class ReasoningSplit {
 public:
  explicit ReasoningSplit(bool is_inside) : state_(is_inside ? State::kInside : State::kStart) {}

  static ReasoningSplit off() {  // all is text
    ReasoningSplit split(false);
    split.state_ = State::kText;
    return split;
  }

  void push(std::string_view piece, std::string& reasoning, std::string& text);
  void finish(std::string& reasoning, std::string& text);

  std::size_t held() const noexcept { return held_.size(); }  // bytes that are not told yet

 private:
  enum class State { kStart, kInside, kBehind, kText };

  bool step(std::string& reasoning, std::string& text);

  State state_;
  bool has_thought_ = false;  // something of the reasoning was told
  std::string held_ = {};
  std::size_t n_spaces_ = 0;  // that held_ is known to begin with
};

// Whether an answer to this prompt begins inside of a <think> that the prompt ends with.
bool ends_inside_reasoning(std::string_view prompt) noexcept;

}  // namespace wick
