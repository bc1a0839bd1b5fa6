#include "chat/json_call.h"

#include <utility>

#include "chat/json_value.h"
#include "chat/tool_format.h"

namespace wick {

namespace {

// The text that a JSON string stands for; empty if it is none.
std::string text_of(const std::string& json) {
  const auto value = parse_json(json);
  return value && value->string() != nullptr ? *value->string() : std::string();
}

}  // namespace

void JsonCall::push(char c) {
  switch (at_) {
    case At::kStart:
      if (!is_call_space(c)) at_ = c == '{' ? At::kKey : At::kBad;
      return;
    case At::kKey:
      if (is_call_space(c)) return;
      value_ = c;
      at_ = c == '"' ? At::kKeyText : c == '}' ? At::kOver : At::kBad;
      break;
    case At::kKeyText:
      value_ += c;
      if (!ends_text(c)) break;
      key_ = text_of(value_);
      if (is_keyed_ && name_.empty()) name_ = key_;
      at_ = At::kColon;
      break;
    case At::kColon:
      if (!is_call_space(c)) at_ = c == ':' ? At::kValue : At::kBad;
      return;
    case At::kValue:
      if (!is_call_space(c)) begin_value(c);
      break;
    case At::kText:
    case At::kNested:
    case At::kScalar:
      push_value(c);
      break;
    case At::kNext:
      if (!is_call_space(c)) push_next(c);
      break;
    case At::kOver:
    case At::kBad:
      return;
  }
  if (at_ == At::kOver && name_.empty()) at_ = At::kBad;
  if (at_ == At::kOver && !has_arguments_) arguments_ = "{}";
  if (at_ == At::kOver || has_arguments_) told_name_ = name_;
  if (!is_streamed_ && value_.size() + arguments_.size() > kMaxHeader) at_ = At::kBad;
}

// Whether `c` is the quote that ends a string; keeps track of escapes.
bool JsonCall::ends_text(char c) {
  if (is_escaped_) {
    is_escaped_ = false;
    return false;
  }
  is_escaped_ = c == '\\';
  return c == '"';
}

void JsonCall::begin_value(char c) {
  value_.clear();
  depth_ = 0;
  is_in_text_ = false;
  is_streamed_ = is_arguments() && c == '{' && !name_.empty() && !has_arguments_;
  has_arguments_ = has_arguments_ || is_streamed_;
  if (c == '"') {
    value_ = c;
    at_ = At::kText;
    return;
  }
  at_ = c == '{' || c == '[' ? At::kNested : At::kScalar;
  push_value(c);
}

void JsonCall::push_value(char c) {
  if (at_ == At::kScalar && (c == ',' || c == '}' || is_call_space(c))) {
    end_value();
    if (!is_call_space(c) && at_ != At::kBad) push_next(c);
    return;
  }
  (is_streamed_ ? arguments_ : value_) += c;
  if (at_ == At::kText) {
    if (ends_text(c)) end_value();
  } else if (is_in_text_) {
    is_in_text_ = !ends_text(c);
  } else if (c == '"') {
    is_in_text_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if ((c == '}' || c == ']') && --depth_ == 0) {
    end_value();
  }
}

void JsonCall::end_value() {
  const bool is_text = at_ == At::kText;
  at_ = At::kNext;
  if (is_streamed_) {
    is_streamed_ = false;
  } else if ((key_ == "name" || key_ == "tool_name") && name_.empty()) {
    name_ = text_of(value_);
    if (name_.empty()) at_ = At::kBad;
  } else if (is_arguments() && !has_arguments_) {
    // Some models write the arguments as a string that holds them.
    arguments_ = is_text ? text_of(value_) : value_ == "null" ? "{}" : value_;
    const auto object = parse_json(arguments_);
    if (!object || object->object() == nullptr) at_ = At::kBad;
    has_arguments_ = true;
  }
  value_.clear();
}

void JsonCall::push_next(char c) {
  at_ = c == ',' ? At::kKey : c == '}' ? At::kOver : At::kBad;
}

std::string JsonCall::take_arguments() {
  return name_.empty() ? std::string() : std::exchange(arguments_, {});
}

}  // namespace wick
