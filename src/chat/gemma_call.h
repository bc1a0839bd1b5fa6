// Reads one tool call of Gemma 4, byte by byte, as JSON arguments:
//
//   call:weather{city:<|"|>Rome<|"|>,days:[1,2],place:{lat:1.5}}
//
// Names of members have no quotes, strings stand between <|"|>.
#pragma once

#include <string>

#include "chat/call_reader.h"

namespace wick {

class GemmaCall final : public CallReader {
 public:
  static constexpr std::size_t kMaxName = 1024;
  static constexpr std::size_t kMaxDepth = 64;

  void push(char c) override;

  // Known with the name of an argument: what is no object is no call.
  const std::string& name() const noexcept override {
    return has_argument_ || is_over() ? name_ : no_name_;
  }

  std::string take_arguments() override;

  bool is_over() const noexcept override { return at_ == At::kOver; }

  bool is_bad() const noexcept override { return at_ == At::kBad; }

 private:
  enum class At { kName, kKey, kValue, kWord, kQuote, kText, kNext, kOver, kBad };

  void push_key(char c);
  void push_value(char c);
  void push_text(char c);
  void push_next(char c);
  void end_word();

  At at_ = At::kName;
  std::string held_ = {}, name_ = {}, no_name_ = {}, arguments_ = {}, open_ = {};
  bool has_argument_ = false, has_comma_ = false, is_first_ = false;
};

}  // namespace wick
