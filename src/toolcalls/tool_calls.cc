#include "toolcalls/tool_calls.h"

#include <algorithm>
#include <utility>

namespace wick {

// What is held behind its space. Each byte of space is looked at once.
std::string_view ToolCallSplit::held_marker() {
  while (n_spaces_ < held_.size() && is_call_space(held_[n_spaces_]))
    ++n_spaces_;
  return std::string_view(held_).substr(n_spaces_);
}

std::string ToolCallSplit::take_held() {
  n_spaces_ = 0;
  return std::exchange(held_, {});
}

// The text of a call that is none, without what the model did not write as text.
std::string ToolCallSplit::take_untold() {
  std::string text = std::exchange(call_text_, {});
  const std::string_view open = format_->open, head = format_->text_head;
  const bool has_head = !head.empty() && text.starts_with(open) &&
                        std::string_view(text).substr(open.size()).starts_with(head);
  if (has_head) {
    text.erase(0, open.size() + head.size());
  } else if (is_opened_) {
    text.erase(0, open.size());
  }
  is_opened_ = false;
  return text;
}

void ToolCallSplit::begin_opened() {
  call_text_ = format_->open;
  begin_call();
  is_opened_ = true;
}

void ToolCallSplit::push(std::string_view text, std::vector<ToolPiece>& out) {
  for (const char c : text) {
    if (at_ == At::kCall) {
      push_call(c, out);
    } else if (at_ == At::kBehind) {
      push_behind(c, out);
    } else {
      push_text(c, out);
    }
  }
}

// `held_` is space, and then a beginning of the opening marker.
void ToolCallSplit::push_text(char c, std::vector<ToolPiece>& out) {
  held_ += c;
  const std::string_view open = format_->open;
  const std::string_view marker = held_marker();
  if (marker.empty()) return;
  if (open.empty()) {  // an answer that is a call begins with one
    if (at_ == At::kStart && marker.size() == 1 && begins_bare(marker[0])) {
      begin_call();
      push_call(c, out);
      return;
    }
  } else if (marker == open) {
    call_text_ = take_held();
    begin_call();
    return;
  } else if (open.starts_with(marker) || is_section(marker)) {
    return;
  }
  // `c` ends what might have become a marker. Another one may begin behind its first byte.
  const std::string rest(marker.substr(1));
  held_.resize(held_.size() - rest.size());
  begin_text(out);
  push(rest, out);
}

// Whether an answer that is a call may begin so, in a format without an opening marker.
bool ToolCallSplit::begins_bare(char c) const noexcept {
  return c == (format_->body == ToolFormat::Body::kPython ? '[' : '{');
}

// Whether `marker` begins a text around all calls. A whole one is dropped.
bool ToolCallSplit::is_section(std::string_view marker) {
  for (const std::string_view section : format_->sections) {
    if (!section.starts_with(marker)) continue;
    if (section == marker) take_held();
    return true;
  }
  return false;
}

// What is held is text.
void ToolCallSplit::begin_text(std::vector<ToolPiece>& out) {
  at_ = At::kText;
  const std::string_view marker = held_marker();
  tell(ToolPiece::Kind::kText, had_call_ ? marker : std::string_view(held_), out);
  if (!marker.empty()) had_call_ = false;
  take_held();
}

void ToolCallSplit::begin_call() {
  call_text_ += take_held();
  if (format_->open.empty()) call_text_.pop_back();  // push_call() adds it again
  at_ = At::kCall;
  is_told_ = is_array_ = false;
  call_.reset();
}

bool ToolCallSplit::is_tool(std::string_view name) const {
  return std::any_of(tools_.begin(), tools_.end(),
                     [&](const ToolSignature& tool) { return tool.name == name; });
}

// Whatever a template teaches, its model may write another body.
std::unique_ptr<CallReader> ToolCallSplit::reader_of(char first) const {
  using Body = ToolFormat::Body;
  const Body body = format_->body;
  if (body == Body::kKeyed) return read_json_call(true);
  if (body == Body::kJson && first == '<') return read_tag_call(kFunctionTags, tools_);
  if (body == Body::kJson || first == '{') return read_json_call(false);
  if (body == Body::kName) return read_named_call(format_->behind_name);
  if (body == Body::kTags) return read_tag_call(format_->tags, tools_);
  if (body == Body::kNested) return read_nested_call(format_->mark, tools_);
  return body == Body::kPython ? read_python_call() : read_gemma_call();
}

void ToolCallSplit::push_call(char c, std::vector<ToolPiece>& out) {
  if (!is_told_) call_text_ += c;
  if (!call_) {
    if (is_call_space(c)) return;
    if (c == '[' && !is_array_ && format_->is_array()) {
      is_array_ = true;
      return;
    }
    call_ = reader_of(c);
  }
  call_->push(c);
  read(c, out);
}

// What the call knows since it has read `c`.
void ToolCallSplit::read(char c, std::vector<ToolPiece>& out) {
  const bool has_name = !call_->name().empty();
  if (call_->is_bad() || (has_name && !is_told_ && !is_tool(call_->name()))) {
    take_held();
    held_ = take_untold();
    if (!held_.empty()) held_.pop_back();
    begin_text(out);
    push_text(c, out);  // may begin a marker
    return;
  }
  if (!has_name) return;
  if (!is_told_) {
    tell(ToolPiece::Kind::kCall, call_->name(), out);
    call_text_.clear();
    is_told_ = true;
    is_opened_ = false;
  }
  tell(ToolPiece::Kind::kArguments, call_->take_arguments(), out);
  if (call_->is_over()) {
    at_ = At::kBehind;
    had_call_ = true;
  }
}

// `held_` is space, and then a beginning of the closing marker.
void ToolCallSplit::push_behind(char c, std::vector<ToolPiece>& out) {
  held_ += c;
  const std::string_view marker = held_marker();
  if (marker.empty()) return;
  const std::string_view close = format_->close;
  if (is_array_ && marker == ",") {
    begin_call();
    is_array_ = true;
  } else if (is_array_ && marker == "]") {
    is_array_ = false;
    take_held();
  } else if (format_->open.empty() && marker == ";") {
    take_held();
  } else if (marker == "{" && (format_->open.empty() || !is_array_) && format_->is_array()) {
    begin_call();
    call_text_.clear();
    push_call(c, out);
  } else if (!close.empty() && marker == close) {
    take_held();
    at_ = At::kText;
  } else if (close.empty() || !close.starts_with(marker)) {
    at_ = At::kText;  // no closing marker: what follows is text, or the next call
    for (const char one : take_held())
      push_text(one, out);
  }
}

void ToolCallSplit::finish(std::vector<ToolPiece>& out) {
  if (at_ == At::kCall) {
    if (is_told_) {
      call_->finish();
      tell(ToolPiece::Kind::kArguments, call_->take_arguments(), out);
    }
    take_held();
    held_ = take_untold();
  } else if (at_ == At::kBehind) {
    take_held();  // space, or a closing marker cut short
  }
  begin_text(out);
}

}  // namespace wick
