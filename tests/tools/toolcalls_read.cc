// Reads tool calls for tools/parity/tool_formats.py: each line of standard input is a JSON object
// {"template": …, "text": …, "tools": [{"name", "parameters"}, …], "piece": bytes}, each line of
// output {"format": name, "text": …, "calls": [{"name", "arguments"}, …]}, or {"format": null}.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "chat/chat_template.h"
#include "toolcalls/harmony.h"
#include "toolcalls/learned_format.h"
#include "toolcalls/tool_calls.h"

namespace {

// Of a template: a row, a learned format, or none.
const wick::ToolFormat* format_of(const std::string& text) {
  static std::map<std::string, std::unique_ptr<const wick::LearnedFormat>> learned;
  if (const wick::ToolFormat* const known = wick::tool_format_of(text); known != nullptr)
    return known;
  const auto [at, is_new] = learned.try_emplace(text);
  if (is_new) {
    const auto tmpl = wick::ChatTemplate::parse(text);
    if (tmpl) at->second = wick::learn_tool_format(*tmpl);
  }
  return at->second == nullptr ? nullptr : &at->second->format;
}

template <class Split>
std::vector<wick::ToolPiece> pieces_of(Split split, const std::string& text, std::size_t size) {
  std::vector<wick::ToolPiece> out;
  for (std::size_t at = 0; at < text.size(); at += size)
    split.push(std::string_view(text).substr(at, size), out);
  split.finish(out);
  return out;
}

wick::Object answer(const std::string& line) {
  const wick::JsonValue request = *wick::parse_json(line);
  const wick::Object& fields = *request.object();
  const std::string& tmpl = *fields.find("template")->string();
  const std::string& text = *fields.find("text")->string();
  const auto size = static_cast<std::size_t>(*fields.find("piece")->integer());
  std::vector<wick::ToolSignature> tools;
  std::vector<std::string> names;
  for (const wick::JsonValue& tool : *fields.find("tools")->array()) {
    names.push_back(*tool.object()->find("name")->string());
    tools.push_back({names.back(), *tool.object()->find("parameters")});
  }
  wick::Object out;
  out["format"] = nullptr;
  std::vector<wick::ToolPiece> pieces;
  if (wick::is_harmony(tmpl)) {
    out["format"] = "harmony";
    pieces = pieces_of(wick::HarmonySplit(names), text, size);
  } else if (const wick::ToolFormat* const format = format_of(tmpl); format != nullptr) {
    out["format"] = format->name;
    pieces = pieces_of(wick::ToolCallSplit(*format, tools), text, size);
  }
  std::string said;
  wick::Array calls;
  for (const wick::ToolPiece& piece : pieces) {
    if (piece.kind == wick::ToolPiece::Kind::kText) said += piece.text;
    if (piece.kind == wick::ToolPiece::Kind::kCall)
      calls.push_back(wick::json_object({{"name", piece.text}, {"arguments", ""}}));
    if (piece.kind == wick::ToolPiece::Kind::kArguments) {
      wick::JsonValue& arguments = *calls.back().object()->find("arguments");
      arguments = *arguments.string() + piece.text;
    }
  }
  out["text"] = said;
  out["calls"] = std::move(calls);
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << wick::to_json(answer(line)) << "\n" << std::flush;
}
