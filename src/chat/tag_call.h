// Reads one tool call whose parameters stand between tags, byte by byte, as JSON arguments:
//
//   <function=f>                                  Qwen3-Coder, Qwen 3.5, Seed-OSS
//   <parameter=city>
//   Rome
//   </parameter>
//   </function>
//
//   f<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>      GLM 4.5 to 5
//
// A value becomes a string where its tag or the tool's schema says so or where it is no JSON. One
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/call_reader.h"
#include "chat/tool_format.h"

namespace wick {

class TagCall final : public CallReader {
 public:
  static constexpr std::size_t kMaxName = 1024;  // bytes of a tool's or parameter's name

  TagCall(const TagStyle& style, const std::vector<ToolSignature>& tools)
      : style_(style), tools_(&tools), at_(style.before_name.empty() ? At::kName : At::kStart) {}

  void push(char c) override;

  const std::string& name() const noexcept override { return name_; }

  std::string take_arguments() override;
  void finish() override;

  bool is_over() const noexcept override { return at_ == At::kOver; }

  bool is_bad() const noexcept override { return at_ == At::kBad; }

 private:
  enum class At { kStart, kName, kHead, kTag, kKey, kAttributes, kValue, kOver, kBad };

  void push_start();
  void push_name(char c);
  void push_tag();
  void push_until(std::string_view end, At next);
  void begin_call();
  void end_value(bool is_whole);

  TagStyle style_;
  const std::vector<ToolSignature>* tools_;
  At at_;
  std::string held_ = {}, name_ = {}, key_ = {}, attributes_ = {}, arguments_ = {};
  bool has_parameter_ = false, has_begun_ = false;
};

}  // namespace wick
