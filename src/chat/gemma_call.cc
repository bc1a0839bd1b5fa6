#include "chat/gemma_call.h"

#include <utility>

#include "base/strings.h"
#include "chat/tool_format.h"

namespace wick {

namespace {

constexpr std::string_view kCall = "call:", kQuoteMark = R"(<|"|>)";

}  // namespace

void GemmaCall::push(char c) {
  switch (at_) {
    case At::kName:
      if (held_.empty() && is_call_space(c)) return;
      if (c != '{') {
        held_ += c;
        const std::string_view begun = std::string_view(held_).substr(0, kCall.size());
        if (!kCall.starts_with(begun) || held_.size() > kMaxName) at_ = At::kBad;
        return;
      }
      if (held_.size() <= kCall.size()) {
        at_ = At::kBad;
        return;
      }
      name_ = held_.substr(kCall.size());
      held_.clear();
      arguments_ = open_ = "{";
      is_first_ = true;
      at_ = At::kKey;
      return;
    case At::kKey:
      return push_key(c);
    case At::kValue:
      return push_value(c);
    case At::kWord:
      if (c != ',' && c != '}' && c != ']' && !is_call_space(c)) {
        held_ += c;
        if (held_.size() > kMaxName) at_ = At::kBad;
        return;
      }
      end_word();
      return push_next(c);
    case At::kQuote:
      held_ += c;
      if (held_ == kQuoteMark) {
        held_.clear();
        arguments_ += '"';
        at_ = At::kText;
      } else if (!kQuoteMark.starts_with(held_)) {
        at_ = At::kBad;
      }
      return;
    case At::kText:
      return push_text(c);
    case At::kNext:
      return push_next(c);
    case At::kOver:
    case At::kBad:
      return;
  }
}

void GemmaCall::push_key(char c) {
  if (held_.empty() && is_call_space(c)) return;
  if (c == '}' && held_.empty() && is_first_) return push_next(c);
  if (c != ':') {
    held_ += c;
    if (held_.size() > kMaxName) at_ = At::kBad;
    return;
  }
  // Some models put the name between quotes.
  std::string_view key = held_;
  for (const std::string_view quote : {kQuoteMark, std::string_view("\"")}) {
    if (key.size() <= 2 * quote.size() || !key.starts_with(quote) || !key.ends_with(quote))
      continue;
    key = key.substr(quote.size(), key.size() - 2 * quote.size());
  }
  if (key.empty()) at_ = At::kBad;
  if (at_ == At::kBad) return;
  arguments_ += cat(std::exchange(has_comma_, false) ? ", " : "", to_json(JsonValue(key)), ": ");
  held_.clear();
  has_argument_ = true;
  is_first_ = false;
  at_ = At::kValue;
}

void GemmaCall::push_value(char c) {
  if (is_call_space(c)) return;
  if (c == ']' && open_.back() == '[' && is_first_) return push_next(c);
  if (std::exchange(has_comma_, false)) arguments_ += ", ";
  if (c == '{' || c == '[') {
    open_ += c;
    arguments_ += c;
    is_first_ = true;
    at_ = open_.size() > kMaxDepth ? At::kBad : c == '{' ? At::kKey : At::kValue;
    return;
  }
  is_first_ = false;
  held_ = c;
  at_ = c == '<' ? At::kQuote : At::kWord;
}

// `held_` is a beginning of the closing mark.
void GemmaCall::push_text(char c) {
  held_ += c;
  if (held_ == kQuoteMark) {
    held_.clear();
    arguments_ += '"';
    at_ = At::kNext;
    return;
  }
  while (!held_.empty() && !kQuoteMark.starts_with(held_)) {
    const char first = held_[0];
    held_.erase(0, 1);
    if ((static_cast<unsigned char>(first) & 0x80U) != 0) {
      arguments_ += first;
      continue;
    }
    const std::string quoted = to_json(JsonValue(std::string(1, first)));
    arguments_ += quoted.substr(1, quoted.size() - 2);
  }
}

void GemmaCall::end_word() {
  if (held_ == "None" || held_ == "True" || held_ == "False")
    held_ = held_ == "None" ? "null" : held_ == "True" ? "true" : "false";
  if (parse_json(held_)) {
    arguments_ += held_;
  } else {
    arguments_ += to_json(JsonValue(held_));
  }
  held_.clear();
}

void GemmaCall::push_next(char c) {
  at_ = At::kNext;
  if (is_call_space(c)) return;
  const bool is_object = open_.back() == '{';
  if (c == ',') {
    has_comma_ = true;
    is_first_ = false;
    at_ = is_object ? At::kKey : At::kValue;
  } else if (c == (is_object ? '}' : ']')) {
    open_.pop_back();
    arguments_ += c;
    is_first_ = has_comma_ = false;
    at_ = open_.empty() ? At::kOver : At::kNext;
  } else {
    at_ = At::kBad;
  }
}

std::string GemmaCall::take_arguments() {
  return name_.empty() ? std::string() : std::exchange(arguments_, {});
}

}  // namespace wick
