// Reads answers for tools/parity/tool_formats.py: each line of standard input is a JSON object
// {"template": …, "text": …, "tools": [{"name", "parameters"}, …], "piece": bytes, "inside": the
// prompt opens <think>}, each line of output {"format": name, "reasoning": …, "text": …, "calls":
// [{"name", "arguments"}, …], "split": whether pieces of `piece` bytes, single bytes and the whole
// text give the same}, or {"format": null}.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "chat/chat_template.h"
#include "toolcalls/harmony.h"
#include "toolcalls/learned_format.h"
#include "toolcalls/reasoning.h"
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

using Pieces = std::vector<wick::ToolPiece>;

// What an answer goes through: in Harmony one reader, else reasoning first and calls behind it.
struct Readers {
  wick::ReasoningSplit reasoning = wick::ReasoningSplit::off();
  std::optional<wick::ToolCallSplit> calls = {};
  std::optional<wick::HarmonySplit> harmony = {};

  void read(std::string_view piece, bool is_end, Pieces& out) {
    if (harmony) return is_end ? harmony->finish(out) : harmony->push(piece, out);
    std::string thought, text;
    if (is_end) {
      reasoning.finish(thought, text);
    } else {
      reasoning.push(piece, thought, text);
    }
    tell(wick::ToolPiece::Kind::kReasoning, thought, out);
    calls->push(text, out);
    if (is_end) calls->finish(out);
  }
};

Pieces pieces_of(Readers readers, std::string_view text, std::size_t size) {
  Pieces out;
  for (std::size_t at = 0; at < text.size(); at += size)
    readers.read(text.substr(at, size), false, out);
  readers.read({}, true, out);
  return out;
}

bool is_same(const Pieces& a, const Pieces& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.text == y.text;
  });
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
  const wick::ToolFormat* const format = format_of(tmpl);
  const bool is_harmony = wick::is_harmony(tmpl);
  const auto readers = [&] {
    Readers made;
    if (is_harmony) {
      made.harmony.emplace(names);
    } else {
      made.reasoning =
          wick::ReasoningSplit(*fields.find("inside")->boolean(), wick::reasoning_marks_of(tmpl));
      made.calls.emplace(*format, tools);
    }
    return made;
  };
  if (!is_harmony && format == nullptr) return out;
  out["format"] = is_harmony ? "harmony" : format->name;
  const Pieces pieces = pieces_of(readers(), text, size);
  out["split"] = is_same(pieces, pieces_of(readers(), text, 1)) &&
                 is_same(pieces, pieces_of(readers(), text, text.size() + 1));
  std::string said, thought;
  wick::Array calls;
  for (const wick::ToolPiece& piece : pieces) {
    if (piece.kind == wick::ToolPiece::Kind::kText) said += piece.text;
    if (piece.kind == wick::ToolPiece::Kind::kReasoning) thought += piece.text;
    if (piece.kind == wick::ToolPiece::Kind::kCall)
      calls.push_back(wick::json_object({{"name", piece.text}, {"arguments", ""}}));
    if (piece.kind == wick::ToolPiece::Kind::kArguments) {
      wick::JsonValue& arguments = *calls.back().object()->find("arguments");
      arguments = *arguments.string() + piece.text;
    }
  }
  out["reasoning"] = thought;
  out["text"] = said;
  out["calls"] = std::move(calls);
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << wick::to_json(answer(line)) << "\n" << std::flush;
}
