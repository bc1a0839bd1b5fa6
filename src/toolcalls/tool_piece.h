// What the readers of an answer (toolcalls/tool_calls.h, toolcalls/harmony.h) make of it, in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wick {

struct ToolPiece {
  enum class Kind { kText, kReasoning, kCall, kArguments };

  Kind kind = Kind::kText;
  std::string text = {};  // of kCall: the tool's name
};

// Appends to the last piece where that is of the same kind.
inline void tell(ToolPiece::Kind kind, std::string_view text, std::vector<ToolPiece>& out) {
  if (text.empty()) return;
  if (!out.empty() && out.back().kind == kind && kind != ToolPiece::Kind::kCall) {
    out.back().text += text;
  } else {
    out.push_back({kind, std::string(text)});
  }
}

}  // namespace wick
