// Reads one tool call in Python's syntax, byte by byte, as JSON arguments:
//
//   weather(city="Rome", days=[1, 2], brief=True)        LFM2, Llama 4
#pragma once

#include <string>

#include "chat/call_reader.h"
#include "chat/python_literal.h"

namespace wick {

class PythonCall final : public CallReader {
 public:
  static constexpr std::size_t kMaxName = 1024;

  void push(char c) override;

  // Known with the name of an argument: arguments without names are no call.
  const std::string& name() const noexcept override {
    return has_argument_ || is_over() ? name_ : no_name_;
  }

  std::string take_arguments() override;
  void finish() override;

  bool is_over() const noexcept override { return at_ == At::kOver; }

  bool is_bad() const noexcept override { return at_ == At::kBad; }

 private:
  enum class At { kName, kKeyOrEnd, kKey, kValue, kNext, kOver, kBad };

  void push_key(char c);
  void push_value(char c);

  At at_ = At::kName;
  PythonLiteral value_ = {};
  std::string held_ = {}, name_ = {}, no_name_ = {}, arguments_ = {};
  bool has_argument_ = false;
};

}  // namespace wick
