#include "chat/python_call.h"

#include <utility>

#include "base/strings.h"
#include "chat/tool_format.h"

namespace wick {

namespace {

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

}  // namespace

void PythonCall::push(char c) {
  switch (at_) {
    case At::kName:
      if (is_name_byte(c) && held_.size() < kMaxName) {
        held_ += c;
      } else if (c == '(' && !held_.empty()) {
        name_ = std::exchange(held_, {});
        arguments_ = "{";
        at_ = At::kKeyOrEnd;
      } else {
        at_ = At::kBad;
      }
      return;
    case At::kKeyOrEnd:
    case At::kKey:
      return push_key(c);
    case At::kValue:
      return push_value(c);
    case At::kNext:
      if (is_call_space(c)) return;
      at_ = c == ',' ? At::kKeyOrEnd : c == ')' ? At::kOver : At::kBad;
      if (at_ == At::kOver) arguments_ += '}';
      return;
    case At::kOver:
    case At::kBad:
      return;
  }
}

void PythonCall::push_key(char c) {
  if (is_call_space(c)) return;
  if (is_name_byte(c) && held_.size() < kMaxName) {
    held_ += c;
    at_ = At::kKey;
  } else if (c == '=' && !held_.empty()) {
    arguments_ += cat(has_argument_ ? ", " : "", to_json(JsonValue(held_)), ": ");
    has_argument_ = true;
    held_.clear();
    value_ = PythonLiteral();
    at_ = At::kValue;
  } else if (c == ')' && at_ == At::kKeyOrEnd) {
    arguments_ += '}';
    at_ = At::kOver;
  } else {
    at_ = At::kBad;
  }
}

void PythonCall::push_value(char c) {
  if (value_.push(c, arguments_)) return;
  if (value_.is_bad() || !value_.finish(arguments_)) {
    at_ = At::kBad;
    return;
  }
  at_ = At::kNext;
  push(c);
}

std::string PythonCall::take_arguments() {
  return name_.empty() ? std::string() : std::exchange(arguments_, {});
}

void PythonCall::finish() {
  if (at_ == At::kValue) value_.finish(arguments_);
}

}  // namespace wick
