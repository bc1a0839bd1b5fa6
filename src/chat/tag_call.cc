#include "chat/tag_call.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "chat/python_literal.h"

namespace wick {

bool is_string_parameter(const std::vector<ToolSignature>& tools, std::string_view name,
                         std::string_view key) {
  const auto tool = std::find_if(tools.begin(), tools.end(),
                                 [&](const ToolSignature& t) { return t.name == name; });
  if (tool == tools.end() || tool->parameters.object() == nullptr) return false;
  const JsonValue* at = tool->parameters.object()->find("properties");
  if (at != nullptr && at->object() != nullptr) at = at->object()->find(key);
  if (at == nullptr || at->object() == nullptr) return false;
  const auto is_string = [](const JsonValue& value) { return value.string() != nullptr; };
  if (const JsonValue* const type = at->object()->find("type"); type != nullptr)
    return is_string(*type) && *type->string() == "string";
  const JsonValue* const choices = at->object()->find("enum");
  return choices != nullptr && choices->array() != nullptr &&
         std::all_of(choices->array()->begin(), choices->array()->end(), is_string);
}

void TagCall::push(char c) {
  const bool is_between = at_ == At::kStart || at_ == At::kTag;
  if (held_.empty() && is_between && is_call_space(c)) return;
  held_ += c;
  switch (at_) {
    case At::kStart:
      return push_start();
    case At::kName:
      return push_name(c);
    case At::kHead:
      return push_until(style_.head_end, At::kTag);
    case At::kTag:
      return push_tag();
    case At::kKey:
      return push_until(style_.key_end, style_.value_open.empty() ? At::kValue : At::kAttributes);
    case At::kAttributes:
      return push_until(style_.value_open, At::kValue);
    case At::kValue:
      if (!held_.ends_with(style_.value_end)) return;
      held_.resize(held_.size() - style_.value_end.size());
      end_value(true);
      at_ = At::kTag;
      return;
    case At::kOver:
    case At::kBad:
      return;
  }
}

void TagCall::push_start() {
  if (held_ == style_.before_name) {
    at_ = At::kName;
    held_.clear();
  } else if (!style_.before_name.starts_with(held_)) {
    at_ = At::kBad;
  }
}

// Without a text behind the name it ends before a line break or a tag.
void TagCall::push_name(char c) {
  if (!style_.name_end.empty()) {
    push_until(style_.name_end, style_.head_end.empty() ? At::kTag : At::kHead);
    return;
  }
  const bool is_first = held_.size() == 1;
  if (is_first && is_call_space(c)) return held_.clear();
  if (held_.size() > kMaxName) at_ = At::kBad;
  if (!is_call_space(c) && c != style_.before_key[0]) return;
  held_.pop_back();
  name_ = std::exchange(held_, {});
  begin_call();
  at_ = name_.empty() ? At::kBad : At::kTag;
  if (!is_call_space(c)) push(c);
}

void TagCall::begin_call() {
  if (!std::exchange(has_begun_, true)) arguments_ = "{";
}

// Takes what comes before `end` as the name, the key or attributes.
void TagCall::push_until(std::string_view end, At next) {
  if (held_.size() > kMaxName + end.size()) at_ = At::kBad;
  if (!held_.ends_with(end)) return;
  held_.resize(held_.size() - end.size());
  const bool is_name = at_ == At::kName, is_key = at_ == At::kKey;
  if ((is_name || is_key) && held_.empty()) {
    at_ = At::kBad;
    return;
  }
  if (is_name) name_ = held_;
  if (is_key) key_ = held_;
  if (is_key) attributes_.clear();
  if (at_ == At::kAttributes) attributes_ = held_;
  held_.clear();
  at_ = next;
  if (!name_.empty()) begin_call();
}

void TagCall::push_tag() {
  if (held_ == style_.before_key) {
    held_.clear();
    at_ = At::kKey;
  } else if (held_ == style_.call_end) {
    held_.clear();
    arguments_ += '}';
    at_ = At::kOver;
  } else if (!style_.before_key.starts_with(held_) && !style_.call_end.starts_with(held_)) {
    at_ = At::kBad;
  }
}

void TagCall::end_value(bool is_whole) {
  std::string_view value = held_;
  if (style_.has_lines && value.starts_with('\n')) value.remove_prefix(1);
  if (style_.has_lines && is_whole && value.ends_with('\n')) value.remove_suffix(1);
  arguments_ += cat(has_parameter_ ? ", " : "", to_json(JsonValue(key_)), ": ");
  has_parameter_ = true;
  const bool says_text = attributes_.find(R"(="true")") != std::string::npos ||
                         attributes_.find(R"(="string")") != std::string::npos;
  std::optional<std::string> json;
  if (!says_text && !is_string_parameter(*tools_, name_, key_)) {
    if (parse_json(value)) {
      json = value;
    } else {
      json = json_of_python(value);
    }
  }
  if (json) {
    arguments_ += *json;
  } else {
    std::string text = to_json(JsonValue(value));
    if (!is_whole) text.pop_back();
    arguments_ += text;
  }
  held_.clear();
}

std::string TagCall::take_arguments() {
  return name_.empty() ? std::string() : std::exchange(arguments_, {});
}

void TagCall::finish() {
  if (at_ == At::kValue) end_value(false);
}

}  // namespace wick
