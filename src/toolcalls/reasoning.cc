#include "toolcalls/reasoning.h"

#include <algorithm>

namespace wick {

namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>", kSpaces = " \t\r\n";

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

}  // namespace

void ReasoningSplit::push(std::string_view piece, std::string& reasoning, std::string& text) {
  held_ += piece;
  while (step(reasoning, text)) {
  }
}

// False if more text is needed to decide about the held text.
bool ReasoningSplit::step(std::string& reasoning, std::string& text) {
  switch (state_) {
    case State::kStart: {
      const std::size_t at = held_.find_first_not_of(kSpaces, n_spaces_);
      n_spaces_ = std::min(at, held_.size());
      if (at == std::string::npos) return false;
      const std::string_view rest = std::string_view(held_).substr(at);
      if (rest.starts_with(kOpen)) {
        held_.erase(0, at + kOpen.size());
        n_spaces_ = 0;
        state_ = State::kInside;
      } else if (kOpen.starts_with(rest)) {
        return false;
      } else {
        state_ = State::kText;
      }
      return true;
    }
    case State::kInside: {
      if (!has_thought_) drop_leading_spaces(held_);
      const std::size_t close = held_.find(kClose, n_spaces_);
      const bool is_closed = close != std::string::npos;
      const std::string_view whole =
          is_closed ? std::string_view(held_).substr(0, close) : without_begun(held_, kClose);
      const std::size_t known = std::min(n_spaces_, whole.size());
      const std::size_t last = whole.substr(known).find_last_not_of(kSpaces);
      const bool is_blank = last == std::string_view::npos;
      const std::string_view told = whole.substr(0, is_blank ? 0 : known + last + 1);
      reasoning += told;
      has_thought_ = has_thought_ || !told.empty();
      n_spaces_ = is_closed ? 0 : whole.size() - told.size();
      held_.erase(0, is_closed ? close + kClose.size() : told.size());
      if (is_closed) state_ = State::kBehind;
      return is_closed;
    }
    case State::kBehind:
      drop_leading_spaces(held_);
      if (held_.empty()) return false;
      state_ = State::kText;
      return true;
    case State::kText:
      text += held_;
      held_.clear();
      return false;
  }
  return false;
}

void ReasoningSplit::finish(std::string& reasoning, std::string& text) {
  if (state_ == State::kInside) {
    reasoning += without_trailing_spaces(held_);
  } else if (state_ == State::kStart) {
    text += held_;
  }
  held_.clear();
}

bool ends_inside_reasoning(std::string_view prompt) noexcept {
  return without_trailing_spaces(prompt).ends_with(kOpen);
}

}  // namespace wick
