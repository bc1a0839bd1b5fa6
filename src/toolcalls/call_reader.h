// Reads one tool call byte by byte, as JSON arguments: one class for each way of writing calls. One
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/json_value.h"
#include "toolcalls/tool_format.h"

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

  // The answer ends here: what is known of a value follows, without its end.
  virtual void finish() {}

  // The name, once it is known that the arguments are an object; empty until then.
  std::string_view name() const noexcept {
    return is_named_ ? std::string_view(name_) : std::string_view();
  }

  // What of the arguments is known and was not taken yet.
  std::string take_arguments() { return std::exchange(arguments_, {}); }

  bool is_over() const noexcept { return state_ == State::kOver; }

  // The bytes so far begin no call: no name, another syntax, or a header too long.
  bool is_bad() const noexcept { return state_ == State::kBad; }

 protected:
  void end() noexcept { state_ = State::kOver; }

  void fail() noexcept { state_ = State::kBad; }

  bool is_named_ = false;  // name_ is certain
  std::string name_ = {}, arguments_ = {};

 private:
  enum class State { kOpen, kOver, kBad };

  State state_ = State::kOpen;
};

// {"name": "f", "arguments": {…}}; keyed: {"f": {…}}.
std::unique_ptr<CallReader> read_json_call(bool is_keyed);
// f, `behind_name`, {…}.
std::unique_ptr<CallReader> read_named_call(std::string_view behind_name);
// f(a="b", c=1).
std::unique_ptr<CallReader> read_python_call();
// call:f{a:<|"|>b<|"|>,c:1}.
std::unique_ptr<CallReader> read_gemma_call();
// The name and parameters between tags. `tools` outlive the reader.
std::unique_ptr<CallReader> read_tag_call(const TagStyle& style,
                                          const std::vector<ToolSignature>& tools);

// The name, and parameters as trees of tags behind `mark`. `tools` outlive the reader.
std::unique_ptr<CallReader> read_nested_call(std::string_view mark,
                                             const std::vector<ToolSignature>& tools);

// Whether the schema of the parameter `key` of a tool takes strings alone.
bool is_string_parameter(const std::vector<ToolSignature>& tools, std::string_view tool,
                         std::string_view key);

}  // namespace wick
