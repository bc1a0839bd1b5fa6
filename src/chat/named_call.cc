#include "chat/named_call.h"

#include <utility>

#include "chat/tool_format.h"

namespace wick {

namespace {

// "function<｜tool▁sep｜>f", "functions.f:0", "f[CALL_ID]12" and " f\n" are all f.
std::string name_in(std::string_view header) {
  for (const std::string_view before : {"<｜tool▁sep｜>", "<|tool_call:name|>"}) {
    if (const std::size_t at = header.find(before); at != std::string_view::npos)
      header.remove_prefix(at + before.size());
  }
  header = header.substr(0, header.find("[CALL_ID]"));
  while (!header.empty() && is_call_space(header.front()))
    header.remove_prefix(1);
  while (!header.empty() && is_call_space(header.back()))
    header.remove_suffix(1);
  if (header.starts_with("functions.")) {
    header.remove_prefix(10);
    header = header.substr(0, header.rfind(':'));
  }
  return std::string(header);
}

}  // namespace

void NamedCall::push(char c) {
  switch (at_) {
    case At::kName:
      header_ += c;
      if (header_.ends_with(behind_name_)) {
        header_.resize(header_.size() - behind_name_.size());
        header_ = name_in(header_);
        at_ = header_.empty() ? At::kBad : At::kStart;
      } else if (header_.size() > kMaxHeader) {
        at_ = At::kBad;
      }
      return;
    case At::kStart:
      if (is_call_space(c)) return;
      at_ = c == '{' ? At::kArguments : At::kBad;
      if (c == '{') name_ = header_;
      break;
    case At::kArguments:
      break;
    case At::kOver:
    case At::kBad:
      return;
  }
  if (at_ != At::kArguments) return;
  arguments_ += c;
  if (is_in_text_) {
    const bool ends = c == '"' && !is_escaped_;
    is_escaped_ = c == '\\' && !is_escaped_;
    is_in_text_ = !ends;
  } else if (c == '"') {
    is_in_text_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if ((c == '}' || c == ']') && --depth_ == 0) {
    at_ = At::kOver;
  }
}

std::string NamedCall::take_arguments() {
  return std::exchange(arguments_, {});
}

}  // namespace wick
