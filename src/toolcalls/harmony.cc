#include "toolcalls/harmony.h"

#include <algorithm>

#include "toolcalls/limits.h"

namespace wick {

namespace {

using Kind = ToolPiece::Kind;

constexpr std::string_view kMessage = "<|message|>";
constexpr std::string_view kBegins[] = {"<|channel|>", kMessage, "<|constrain|>", "to="};
constexpr std::string_view kEnds[] = {"<|end|>", "<|start|>", "<|channel|>"};

// The header without the role and spaces before it.
std::string_view without_role(std::string_view header) {
  for (const std::string_view role : {std::string_view("<|start|>"), std::string_view("assistant")})
    if (header.starts_with(role)) header.remove_prefix(role.size());
  const std::size_t at = header.find_first_not_of(" \n");
  return header.substr(std::min(at, header.size()));
}

// Whether a header may begin so.
bool may_be_header(std::string_view header) {
  for (const std::string_view start :
       {std::string_view("<|start|>assistant"), std::string_view("assistant")}) {
    if (start.starts_with(header)) return true;
  }
  const std::string_view rest = without_role(header);
  return std::any_of(std::begin(kBegins), std::end(kBegins), [&](std::string_view begin) {
    return begin.starts_with(rest) || rest.starts_with(begin);
  });
}

// "f" of "… to=functions.f …"; empty if there is none.
std::string_view recipient_of(std::string_view header) {
  constexpr std::string_view kTo = "to=functions.";
  const std::size_t at = header.find(kTo);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + kTo.size());
  return header.substr(0, header.find_first_of(" <\n"));
}

}  // namespace

bool is_harmony(std::string_view chat_template) noexcept {
  return chat_template.find("<|channel|>analysis") != std::string_view::npos &&
         chat_template.find("<|start|>assistant") != std::string_view::npos;
}

void HarmonySplit::push(std::string_view text, std::vector<ToolPiece>& out) {
  for (const char c : text) {
    if (is_in_header_) {
      push_header(c, out);
    } else {
      push_body(c, out);
    }
  }
}

void HarmonySplit::push_header(char c, std::vector<ToolPiece>& out) {
  held_ += c;
  if (held_.ends_with(kMessage)) {
    begin_body();
  } else if (held_.size() > kMaxHarmonyHeader || !may_be_header(held_)) {
    is_in_header_ = false;
    kind_ = Kind::kText;
    tell(kind_, held_, out);
    held_.clear();
  }
}

void HarmonySplit::begin_body() {
  const std::string_view name = recipient_of(held_);
  const bool is_call = std::find(tools_.begin(), tools_.end(), name) != tools_.end();
  const bool is_reasoning = held_.find("analysis") != std::string::npos;
  kind_ = is_call ? Kind::kArguments : is_reasoning ? Kind::kReasoning : Kind::kText;
  call_ = is_call ? name : std::string_view();
  is_in_header_ = false;
  held_.clear();
}

// A call is told with the first byte of its arguments: what is no object is text.
void HarmonySplit::tell_body(std::string_view text, std::vector<ToolPiece>& out) {
  if (!call_.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.empty()) return;
    if (text[0] == '{') {
      tell(Kind::kCall, call_, out);
    } else {
      kind_ = Kind::kText;
    }
    call_.clear();
  }
  tell(kind_, text, out);
}

// `held_` is a beginning of a marker that ends the body.
void HarmonySplit::push_body(char c, std::vector<ToolPiece>& out) {
  held_ += c;
  for (const std::string_view end : kEnds) {
    if (!end.starts_with(held_)) continue;
    if (held_ != end) return;
    is_in_header_ = true;
    if (end == "<|end|>") held_.clear();  // the others begin the next header
    return;
  }
  const bool is_again = held_.size() > 1 && c == '<';
  if (is_again) held_.pop_back();
  tell_body(held_, out);
  held_.assign(is_again ? 1 : 0, '<');
}

void HarmonySplit::finish(std::vector<ToolPiece>& out) {
  const bool is_structure = is_in_header_ && held_.find("<|") != std::string::npos;
  if (is_in_header_ && !is_structure) tell(Kind::kText, held_, out);
  if (!is_in_header_) tell_body(held_, out);
  held_.clear();
}

}  // namespace wick
