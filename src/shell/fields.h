// The fields that one word becomes: text and values are put together until a field ends.
#pragma once

#include <string>
#include <vector>

#include "shell/value.h"

namespace wick::shell {

// Collects the fields of one word.
class Fields {
 public:
  Fields(Span span, std::vector<Arg>& out) : span_(span), out_(out) {}

  Span span() const noexcept { return span_; }

  void glob() { arg().is_glob = true; }

  void text(const std::string& text, bool is_quoted, bool globs) {
    if (!is_open_ && !is_quoted && text.empty()) return;  // begins no field
    Arg& a = arg();
    const bool may_be_nothing = a.value.is_below ? a.value.may_be_empty : a.value.prefix.empty();
    if (!a.value.is_known && a.value.tail.empty() && text.starts_with('/') && may_be_nothing &&
        !a.value.is_number)
      a.is_unset_slash = true;
    append(a.value, text);
    if (!is_quoted && globs && has_wildcard(text)) a.is_glob = true;
  }

  void value(const Value& v, bool is_many) {
    Arg& a = arg();
    append(a.value, v);
    a.is_many = a.is_many || is_many;
  }

  void end() {
    if (!is_open_) return;
    Arg& a = arg();
    // `[` alone is no pattern: the command of that name.
    const bool is_one = a.is_glob && a.value.is_known && a.value.set.size() == 1;
    if (is_one && a.value.set[0].find_first_of("*?") == std::string::npos &&
        a.value.set[0].find(']') == std::string::npos)
      a.is_glob = false;
    is_open_ = false;
  }

 private:
  // The field that is being made: the last one.
  Arg& arg() {
    if (!is_open_) out_.emplace_back().span = span_;
    is_open_ = true;
    return out_.back();
  }

  Span span_;
  std::vector<Arg>& out_;
  bool is_open_ = false;
};

}  // namespace wick::shell
