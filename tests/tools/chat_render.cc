// Renders chat templates for tools/parity/templates_diff.py: each line of standard input is a JSON
// object {"template": …, "context": {…}, "now": seconds}, each line of output {"text": …,
// "trusted": [[begin, end], …]} or {"error": id, "message": …}, both with "usage": {"work",
// "bytes"}.
#include <iostream>
#include <optional>
#include <string>

#include "chat/chat_template.h"

namespace {

wick::Object failed(const wick::Error& error) {
  wick::Object out;
  out["error"] = error.id;
  out["message"] = error.message;
  return out;
}

wick::Object answer(const wick::MarkedText& text) {
  wick::Object out;
  out["text"] = text.text;
  wick::Array spans;
  for (const wick::Span& span : text.trusted) {
    wick::Array& pair = *spans.emplace_back(wick::Array()).array();
    pair.emplace_back(span.begin);
    pair.emplace_back(span.end);
  }
  out["trusted"] = std::move(spans);
  return out;
}

// The last template is kept: thousands of conversations go through each.
const wick::Result<wick::ChatTemplate>& parsed(const std::string& text) {
  static std::string last;
  static std::optional<wick::Result<wick::ChatTemplate>> tmpl;
  if (!tmpl || last != text) {
    tmpl.emplace(wick::ChatTemplate::parse(text));
    last = text;
  }
  return *tmpl;
}

wick::Object render(const std::string& line) {
  const auto request = wick::parse_json(line);
  if (!request) return failed(request.error());
  const wick::Object& fields = *request->object();
  const wick::Result<wick::ChatTemplate>& tmpl = parsed(*fields.find("template")->string());
  if (!tmpl) return failed(tmpl.error());
  const wick::JsonValue* now = fields.find("now");
  wick::RenderUsage usage;
  const auto text =
      tmpl->render(*fields.find("context")->object(),
                   {.now_seconds = now != nullptr ? *now->integer() : 0, .usage = &usage});
  wick::Object out = text ? answer(*text) : failed(text.error());
  wick::Object used;
  used["work"] = usage.work;
  used["bytes"] = static_cast<std::int64_t>(usage.bytes);
  out["usage"] = std::move(used);
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << wick::to_json(render(line)) << std::endl;
  }
}
