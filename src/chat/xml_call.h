// Reads one tool call of Qwen3-Coder and Qwen 3.5, byte by byte, as JSON arguments:
//
//   <function=f>
//   <parameter=city>
//   Rome
//   </parameter>
//   </function>
//
// A value becomes a string where the tool's schema says so or where it is no JSON. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/json_value.h"

namespace wick {

// A tool that may be called.
struct ToolSignature {
  std::string name = {};
  JsonValue parameters = {};  // JSON schema; what is no object says nothing
};

class XmlCall {
 public:
  static constexpr std::size_t kMaxName = 1024;  // bytes of a tool's or parameter's name

  explicit XmlCall(const std::vector<ToolSignature>& tools) : tools_(&tools) {}

  void push(char c);

  const std::string& name() const noexcept { return name_; }

  // Of the arguments' JSON, what is known and was not taken yet.
  std::string take_arguments();

  // The answer ends here: what is known of a value follows, without its end.
  void finish();

  bool is_over() const noexcept { return at_ == At::kOver; }

  bool is_bad() const noexcept { return at_ == At::kBad; }

 private:
  enum class At { kFunction, kName, kTag, kKey, kValue, kOver, kBad };

  void push_tag();
  void end_value(bool is_whole);
  bool is_text(std::string_view key) const;

  const std::vector<ToolSignature>* tools_;
  At at_ = At::kFunction;
  std::string held_ = {}, name_ = {}, key_ = {}, arguments_ = {};
  bool has_parameter_ = false;
};

}  // namespace wick
