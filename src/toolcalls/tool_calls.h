// Separates the tool calls of an answer from its text, byte by byte: no byte is read twice, so any
// split of the answer gives the same text, calls and arguments. White space around a call is
// dropped. What begins like a call but is none (no such tool, no JSON) is text. Held back is only
// what may still become a call or the space before one. One owner, one thread.
//
//   ToolCallSplit split(format, tools);
//   split.push(text, pieces);
//   split.finish(pieces);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "toolcalls/call_reader.h"
#include "toolcalls/tool_format.h"
#include "toolcalls/tool_piece.h"

namespace wick {

class ToolCallSplit {
 public:
  ToolCallSplit(const ToolFormat& format, std::vector<ToolSignature> tools)
      : format_(&format), tools_(std::move(tools)) {}

  // The prompt ends with the opening marker. Before the first push().
  void begin_opened();

  // Both append to `out`; neighbors of a kind are joined.
  void push(std::string_view text, std::vector<ToolPiece>& out);
  void finish(std::vector<ToolPiece>& out);

  std::size_t held() const noexcept { return held_.size() + call_text_.size(); }

 private:
  // kStart and kText: outside of calls. kBehind: behind a call's body, before its closing marker.
  enum class At { kStart, kText, kCall, kBehind };

  std::string_view held_marker();
  std::string take_held();
  std::string take_untold();
  bool is_tool(std::string_view name) const;
  void push_text(char c, std::vector<ToolPiece>& out);
  void push_call(char c, std::vector<ToolPiece>& out);
  void push_behind(char c, std::vector<ToolPiece>& out);
  void begin_call();
  bool begins_bare(char c) const noexcept;
  bool is_section(std::string_view marker);
  void begin_text(std::vector<ToolPiece>& out);
  std::unique_ptr<CallReader> reader_of(char first) const;
  void read(char c, std::vector<ToolPiece>& out);

  const ToolFormat* format_;
  std::vector<ToolSignature> tools_;
  At at_ = At::kStart;
  std::string held_ = {};       // space, and the beginning of a marker
  std::size_t n_spaces_ = 0;    // known to be at the beginning of held_
  std::string call_text_ = {};  // of a call that is not told yet
  std::unique_ptr<CallReader> call_ = {};
  bool is_told_ = false;    // of the call
  bool is_array_ = false;   // the body is an array of calls
  bool had_call_ = false;   // before the text
  bool is_opened_ = false;  // the prompt has the opening marker of this call
};

}  // namespace wick
