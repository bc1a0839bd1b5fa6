#include "toolcalls/reasoning.h"

#include <algorithm>
#include <iterator>

#include "toolcalls/limits.h"

namespace wick {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";

// The first row whose sign is in the template wins; the last one is everybody else's.
constexpr ReasoningMarks kMarks[] = {
    {.open = "<seed:think>", .close = "</seed:think>", .sign = "<seed:think>"},
    {.open = "<mm:think>", .close = "</mm:think>", .sign = "<mm:think>"},
    {.open = "<think:opensource>",
     .close = "</think:opensource>",
     .sign = "'<think{}>'.format(HYTK)",
     .tokens = {"<think:opensource>", "</think:opensource>"}},
    {.open = "<|START_THINKING|>",
     .close = "<|END_THINKING|>",
     .sign = "<|START_THINKING|>",
     .tokens = {"<|START_THINKING|>", "<|END_THINKING|>"}},
    {.open = "<|channel>thought",
     .close = "<channel|>",
     .sign = "<|channel>thought",
     .tokens = {"<|channel>", "<channel|>"}},
    {.open = "[THINK]", .close = "[/THINK]", .sign = "[THINK]", .tokens = {"[THINK]", "[/THINK]"}},
    {.open = "<|open|>think<|sep|>",
     .close = "<|close|>think<|sep|>",
     .sign = "open_tag('think'",
     .tokens = {"<|open|>", "<|sep|>", "<|close|>"},
     .has_sections = true},
    {.open = "Here are my reasoning steps:",
     .close = "[BEGIN FINAL RESPONSE]",
     .sign = "'Here are my reasoning steps:",
     .tokens = {"[BEGIN FINAL RESPONSE]"}},
    {.open = "to=self<|message|>",
     .close = "<|eom|>",
     .sign = "'<|start|>assistant to=self<|message|>'",
     .tokens = {"<|start|>", "<|message|>", "<|eom|>"},
     .header_end = "<|message|>",
     .header_begins = "<|start|>assistant"},
    {},
};

void drop_leading_spaces(std::string& text) {
  text.erase(0, std::min(text.find_first_not_of(kSpaces), text.size()));
}

std::string_view without_trailing_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// Without its end that may become `marker`.
std::string_view without_begun(std::string_view text, std::string_view marker) {
  for (std::size_t n = std::min(text.size(), marker.size() - 1); n > 0; --n) {
    if (text.ends_with(marker.substr(0, n))) return text.substr(0, text.size() - n);
  }
  return text;
}

// Whether one of the two begins with the other.
bool agree(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

// Whether a message's header may begin so: the end of the prompt may be the beginning of the first.
bool may_be_header(std::string_view text, const ReasoningMarks& marks) {
  constexpr std::string_view kTo = "to=";
  if (agree(text, marks.header_begins) && text.size() <= marks.header_begins.size()) return true;
  if (text.starts_with(marks.header_begins)) text.remove_prefix(marks.header_begins.size());
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.size() <= kMaxHarmonyHeader && (agree(text, kTo) || agree(text, marks.header_end));
}

}  // namespace

const ReasoningMarks& reasoning_marks_of(std::string_view chat_template) noexcept {
  const auto at = std::find_if(std::begin(kMarks), std::end(kMarks), [&](const auto& marks) {
    return chat_template.find(marks.sign) != std::string_view::npos;
  });
  return at == std::end(kMarks) ? *std::prev(at) : *at;
}

void ReasoningSplit::push(std::string_view piece, std::string& reasoning, std::string& text) {
  held_ += piece;
  while (step(reasoning, text)) {
  }
}

// False if more text is needed to decide about the held text.
bool ReasoningSplit::step(std::string& reasoning, std::string& text) {
  switch (state_) {
    case State::kStart:
      return step_start();
    case State::kInside:
      return step_inside(reasoning);
    case State::kBehind:
      drop_leading_spaces(held_);
      if (held_.empty()) return false;
      state_ = State::kText;
      return true;
    case State::kText:
      text += held_;
      held_.clear();
      return false;
    case State::kHeader:
      return step_header();
    case State::kMessage:
      return step_message(text);
  }
  return false;
}

// A prompt that switches reasoning off may leave its closing marker to the answer.
bool ReasoningSplit::step_start() {
  const std::size_t at = held_.find_first_not_of(kSpaces, n_spaces_);
  n_spaces_ = std::min(at, held_.size());
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(held_).substr(at);
  state_ = State::kText;
  for (const std::string_view mark : {marks_->open, marks_->close}) {
    if (rest.starts_with(mark)) {
      state_ = mark == marks_->open ? State::kInside : State::kBehind;
      held_.erase(0, at + mark.size());
      n_spaces_ = 0;
      return true;
    }
    if (mark.starts_with(rest)) state_ = State::kStart;
  }
  return state_ == State::kText;
}

bool ReasoningSplit::step_inside(std::string& reasoning) {
  if (!has_thought_) drop_leading_spaces(held_);
  const std::size_t close = held_.find(marks_->close, n_spaces_);
  const bool is_closed = close != std::string::npos;
  const std::string_view whole =
      is_closed ? std::string_view(held_).substr(0, close) : without_begun(held_, marks_->close);
  const std::size_t known = std::min(n_spaces_, whole.size());
  const std::size_t last = whole.substr(known).find_last_not_of(kSpaces);
  const bool is_blank = last == std::string_view::npos;
  const std::string_view told = whole.substr(0, is_blank ? 0 : known + last + 1);
  reasoning += told;
  has_thought_ = has_thought_ || !told.empty();
  n_spaces_ = is_closed ? 0 : whole.size() - told.size();
  held_.erase(0, is_closed ? close + marks_->close.size() : told.size());
  if (is_closed) state_ = marks_->header_end.empty() ? State::kBehind : State::kHeader;
  return is_closed;
}

bool ReasoningSplit::step_header() {
  const std::size_t end = held_.find(marks_->header_end);
  if (end == std::string::npos) {
    if (!may_be_header(held_, *marks_)) state_ = State::kMessage;
    return state_ == State::kMessage;
  }
  if (!may_be_header(std::string_view(held_).substr(0, end), *marks_)) {
    state_ = State::kMessage;
    return true;
  }
  const std::size_t body = end + marks_->header_end.size();
  const bool is_thought = std::string_view(held_).substr(0, body).ends_with(marks_->open);
  held_.erase(0, body);
  state_ = is_thought ? State::kInside : State::kMessage;
  return true;
}

bool ReasoningSplit::step_message(std::string& text) {
  const std::size_t close = held_.find(marks_->close);
  const bool is_closed = close != std::string::npos;
  const std::size_t n = is_closed ? close : without_begun(held_, marks_->close).size();
  text.append(held_, 0, n);
  held_.erase(0, is_closed ? n + marks_->close.size() : n);
  if (is_closed) state_ = State::kHeader;
  return is_closed;
}

void ReasoningSplit::finish(std::string& reasoning, std::string& text) {
  const bool is_header =
      state_ == State::kHeader && held_.find_first_not_of(kSpaces) != std::string::npos;
  if (state_ == State::kInside) {
    reasoning += without_trailing_spaces(held_);
  } else if (state_ == State::kStart || state_ == State::kMessage || is_header) {
    text += held_;
  }
  held_.clear();
}

bool ends_inside_reasoning(std::string_view prompt, const ReasoningMarks& marks) noexcept {
  return without_trailing_spaces(prompt).ends_with(marks.open);
}

}  // namespace wick
