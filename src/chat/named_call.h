// Reads one tool call that begins with the tool's name, byte by byte:
//
//   f[ARGS]{…}          Mistral       functions.f:0<|tool_call_argument_begin|>{…}    Kimi K2
//
// The arguments are passed on verbatim as they arrive. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "chat/call_reader.h"

namespace wick {

class NamedCall final : public CallReader {
 public:
  static constexpr std::size_t kMaxHeader = 4096;  // bytes before the arguments

  // `behind_name`: the text between the name and the arguments.
  explicit NamedCall(std::string_view behind_name) : behind_name_(behind_name) {}

  void push(char c) override;

  // Known with the first byte of the arguments: what is no object is no call.
  const std::string& name() const noexcept override { return name_; }

  std::string take_arguments() override;

  bool is_over() const noexcept override { return at_ == At::kOver; }

  bool is_bad() const noexcept override { return at_ == At::kBad; }

 private:
  enum class At { kName, kStart, kArguments, kOver, kBad };

  std::string_view behind_name_;
  At at_ = At::kName;
  std::string header_ = {}, name_ = {}, arguments_ = {};
  std::size_t depth_ = 0;
  bool is_in_text_ = false, is_escaped_ = false;
};

}  // namespace wick
