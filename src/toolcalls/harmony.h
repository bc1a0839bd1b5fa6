// Separates an answer in Harmony, the format of gpt-oss, into reasoning, text and tool calls, byte
// by byte:
//
//   <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…
//   <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}
//
// The prompt ends in <|start|>assistant, so an answer begins with a header. An answer without one
// (under a response format) is text, and so is what is said to a tool that is not offered. One
// owner, one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "toolcalls/tool_piece.h"

namespace wick {

// Whether a chat template (Jinja) is of this format.
bool is_harmony(std::string_view chat_template) noexcept;

// The control tokens that must be part of the text that is pushed.
inline constexpr std::string_view kHarmonyTokens[] = {"<|start|>", "<|channel|>", "<|message|>",
                                                      "<|constrain|>", "<|end|>"};

class HarmonySplit {
 public:
  explicit HarmonySplit(std::vector<std::string> tools) : tools_(std::move(tools)) {}

  // Both append to `out`; neighbors of a kind are joined.
  void push(std::string_view text, std::vector<ToolPiece>& out);
  void finish(std::vector<ToolPiece>& out);

  std::size_t held() const noexcept { return held_.size(); }

 private:
  void push_header(char c, std::vector<ToolPiece>& out);
  void push_body(char c, std::vector<ToolPiece>& out);
  void begin_body();
  void tell_body(std::string_view text, std::vector<ToolPiece>& out);

  std::vector<std::string> tools_;
  bool is_in_header_ = true;
  ToolPiece::Kind kind_ = ToolPiece::Kind::kText;  // of the body
  std::string call_ = {};                          // the tool that is called, before its arguments
  std::string held_ = {};  // the header, or in a body the beginning of a marker
};

}  // namespace wick
