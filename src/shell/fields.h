// The fields that one word becomes: text and values are put together until a field ends.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shell/value.h"

namespace wick::shell {

// Collects the fields of one word.
class Fields {
 public:
  Fields(Span span, std::vector<Arg>& out) : span_(span), out_(out) {}

  Span span() const noexcept { return span_; }

  void glob() { arg_.is_glob = has_ = true; }

  void text(const std::string& text, bool is_quoted, bool globs) {
    has_ = has_ || is_quoted || !text.empty();
    if (!arg_.value.is_known && arg_.value.tail.empty() && text.starts_with('/') &&
        arg_.value.prefix.empty() && !arg_.value.is_number && !arg_.value.is_below)
      arg_.is_unset_slash = true;
    append(arg_.value, text);
    if (!is_quoted && globs && text.find_first_of("*?[") != std::string::npos) arg_.is_glob = true;
  }

  void value(const Value& v, bool is_many) {
    has_ = true;
    arg_.value = concat(arg_.value, v);
    arg_.is_many = arg_.is_many || is_many;
  }

  void end() {
    if (has_) {
      arg_.span = span_;
      // `[` alone is no pattern: the command of that name.
      const bool is_one = arg_.value.is_known && arg_.value.set.size() == 1;
      if (is_one && arg_.value.set[0].find_first_of("*?") == std::string::npos &&
          arg_.value.set[0].find(']') == std::string::npos)
        arg_.is_glob = false;
      out_.push_back(std::exchange(arg_, {}));
    }
    has_ = false;
  }

 private:
  Span span_;
  std::vector<Arg>& out_;
  Arg arg_ = {};
  bool has_ = false;
};

}  // namespace wick::shell
