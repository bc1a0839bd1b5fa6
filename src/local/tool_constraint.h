// What tool calls of a local model are held to: a composition (grammar/composition.h) of the texts
// of the model's format and the JSON schemas of the tools.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "grammar/recognizer.h"
#include "text/tokenizer.h"
#include "toolcalls/reasoning.h"
#include "toolcalls/tool_format.h"
#include "wick/generation.h"

namespace wick {

struct ToolPlan {
  const ToolFormat* format = nullptr;  // null: Harmony
  const ReasoningMarks* marks = &reasoning_marks_of({});
  bool begins_in_reasoning = false;  // the prompt ends with marks->open
  bool is_required = false;          // the answer is calls; else free text, and calls in it
  bool is_opened = false;            // the prompt ends with the format's opening marker
  bool is_single = false;            // at most one call
  std::string only = {};             // the one tool that may be called, once; empty: all
};

// Equal plans have equal keys.
std::string tool_plan_key(const Generation& generation, const ToolPlan& plan);

// Where calls are free, a tool whose schema is not supported may have any arguments; where they are
// required, that is an error.
Result<std::unique_ptr<grammar::Recognizer>> tool_constraint(const Generation& generation,
                                                             const ToolPlan& plan,
                                                             const Tokenizer& tokenizer);

}  // namespace wick
