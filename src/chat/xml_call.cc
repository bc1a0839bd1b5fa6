#include "chat/xml_call.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "chat/tool_format.h"

namespace wick {

namespace {

constexpr std::string_view kFunction = "<function=", kEnd = "</function>";
constexpr std::string_view kParameter = "<parameter=", kValueEnd = "</parameter>";

}  // namespace

void XmlCall::push(char c) {
  if (held_.empty() && (at_ == At::kFunction || at_ == At::kTag) && is_call_space(c)) return;
  held_ += c;
  switch (at_) {
    case At::kFunction:
      if (held_ == kFunction) {
        at_ = At::kName;
        held_.clear();
      } else if (!kFunction.starts_with(held_)) {
        at_ = At::kBad;
      }
      return;
    case At::kName:
    case At::kKey:
      if (held_.size() > kMaxName) at_ = At::kBad;
      if (c != '>') return;
      held_.pop_back();
      if (held_.empty()) {
        at_ = At::kBad;
        return;
      }
      (at_ == At::kName ? name_ : key_) = std::exchange(held_, {});
      if (at_ == At::kName) arguments_.push_back('{');
      at_ = at_ == At::kName ? At::kTag : At::kValue;
      return;
    case At::kTag:
      push_tag();
      return;
    case At::kValue:
      if (!held_.ends_with(kValueEnd)) return;
      held_.resize(held_.size() - kValueEnd.size());
      end_value(true);
      at_ = At::kTag;
      return;
    case At::kOver:
    case At::kBad:
      return;
  }
}

void XmlCall::push_tag() {
  if (held_ == kParameter) {
    held_.clear();
    at_ = At::kKey;
  } else if (held_ == kEnd) {
    held_.clear();
    arguments_ += '}';
    at_ = At::kOver;
  } else if (!kParameter.starts_with(held_) && !kEnd.starts_with(held_)) {
    at_ = At::kBad;
  }
}

// Templates write a line break before and after a value.
void XmlCall::end_value(bool is_whole) {
  std::string_view value = held_;
  if (value.starts_with('\n')) value.remove_prefix(1);
  if (is_whole && value.ends_with('\n')) value.remove_suffix(1);
  arguments_ += cat(has_parameter_ ? ", " : "", to_json(JsonValue(key_)), ": ");
  has_parameter_ = true;
  const auto json = parse_json(value);
  if (json && !is_text(key_)) {
    arguments_ += value;
  } else {
    std::string text = to_json(JsonValue(value));
    if (!is_whole) text.pop_back();
    arguments_ += text;
  }
  held_.clear();
}

// Whether the schema of the parameter `key` takes strings alone.
bool XmlCall::is_text(std::string_view key) const {
  const auto tool = std::find_if(tools_->begin(), tools_->end(),
                                 [&](const ToolSignature& t) { return t.name == name_; });
  if (tool == tools_->end() || tool->parameters.object() == nullptr) return false;
  const JsonValue* at = tool->parameters.object()->find("properties");
  for (const std::string_view step : {key, std::string_view("type")}) {
    if (at == nullptr || at->object() == nullptr) return false;
    at = at->object()->find(step);
  }
  return at != nullptr && at->string() != nullptr && *at->string() == "string";
}

std::string XmlCall::take_arguments() {
  return std::exchange(arguments_, {});
}

void XmlCall::finish() {
  if (at_ == At::kValue) end_value(false);
}

}  // namespace wick
