// Reads one tool call, {"name": "f", "arguments": {…}}, byte by byte. The arguments are passed on
// verbatim as they arrive; what comes before the name is kept (kMaxHeader bytes). One thread.
#pragma once

#include <string>
#include <string_view>

namespace wick {

class JsonCall {
 public:
  static constexpr std::size_t kMaxHeader = 64 << 10;

  void push(char c);

  // The name, once it is known; empty until then.
  const std::string& name() const noexcept { return name_; }

  // What of the arguments is known and was not taken yet; empty before the name is known.
  std::string take_arguments();

  bool is_over() const noexcept { return at_ == At::kOver; }

  // The bytes so far begin no call: no JSON object, no name, or a header too long.
  bool is_bad() const noexcept { return at_ == At::kBad; }

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

  bool is_arguments() const noexcept { return key_ == "arguments" || key_ == "parameters"; }

  At at_ = At::kStart;
  std::string key_ = {}, value_ = {}, name_ = {}, arguments_ = {};
  bool has_arguments_ = false, is_streamed_ = false;
  bool is_in_text_ = false, is_escaped_ = false;
  std::size_t depth_ = 0;
};

}  // namespace wick
