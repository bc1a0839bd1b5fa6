// Reads one tool call, {"name": "f", "arguments": {…}} or {"f": {…}}, byte by byte. The arguments
// are passed on verbatim as they arrive; what comes before the name is kept (kMaxHeader bytes).
#pragma once

#include <string>

#include "chat/call_reader.h"

namespace wick {

class JsonCall final : public CallReader {
 public:
  static constexpr std::size_t kMaxHeader = 64 << 10;

  // `is_keyed`: the object's one key is the name.
  explicit JsonCall(bool is_keyed) : is_keyed_(is_keyed) {}

  void push(char c) override;

  // Known with the first byte of the arguments: what is no object is no call.
  const std::string& name() const noexcept override { return told_name_; }

  std::string take_arguments() override;

  bool is_over() const noexcept override { return at_ == At::kOver; }

  bool is_bad() const noexcept override { return at_ == At::kBad; }

 private:
  enum class At {
    kStart,
    kKey,
    kKeyText,
    kColon,
    kValue,
    kText,
    kNested,
    kScalar,
    kNext,
    kOver,
    kBad
  };

  bool ends_text(char c);
  void begin_value(char c);
  void push_value(char c);
  void end_value();
  void push_next(char c);

  bool is_arguments() const noexcept {
    return key_ == "arguments" || key_ == "parameters" || (is_keyed_ && key_ == name_);
  }

  bool is_keyed_;
  At at_ = At::kStart;
  std::string key_ = {}, value_ = {}, name_ = {}, told_name_ = {}, arguments_ = {};
  bool has_arguments_ = false, is_streamed_ = false;
  bool is_in_text_ = false, is_escaped_ = false;
  std::size_t depth_ = 0;
};

}  // namespace wick
