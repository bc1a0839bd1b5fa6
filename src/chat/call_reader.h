// Reads one tool call byte by byte, as JSON arguments. One file for each way of writing calls:
// json_call.h, named_call.h, tag_call.h, python_call.h, gemma_call.h. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chat/json_value.h"

namespace wick {

// A tool that may be called.
struct ToolSignature {
  std::string name = {};
  JsonValue parameters = {};  // JSON schema; what is no object says nothing
};

class CallReader {
 public:
  virtual ~CallReader() = default;

  virtual void push(char c) = 0;

  // The name, once it is known; empty until then.
  virtual const std::string& name() const noexcept = 0;

  // What of the arguments is known and was not taken yet; empty before the name is known.
  virtual std::string take_arguments() = 0;

  virtual bool is_over() const noexcept = 0;

  // The bytes so far begin no call: no name, another syntax, or a header too long.
  virtual bool is_bad() const noexcept = 0;

  // The call ended with a byte that is not its own, for example a ']' behind it.
  virtual bool ended_before() const noexcept { return false; }

  // The answer ends here: what is known of a value follows, without its end.
  virtual void finish() {}
};

// Whether the schema of the parameter `key` of a tool takes strings alone.
bool is_string_parameter(const std::vector<ToolSignature>& tools, std::string_view tool,
                         std::string_view key);

}  // namespace wick
