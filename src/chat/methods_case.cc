#include "chat/methods.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja::methods {
namespace {

using Args = std::span<const Value>;

// Whether the text has characters and each of them passes; `if_empty` where it has none.
template <class Holds>
Value all_of(Run& run, const Value& self, const Holds& holds, bool if_empty = false) {
  const std::string_view text = self.bytes();
  bool all = if_empty || !text.empty();
  in_slices(run, text, Rate::kTables, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && all;) {
      const CodePoint c = code_point(text, at);
      all = holds(c.value);
      at += c.size;
    }
    return all;
  });
  return run.failed() ? Value::failure() : Value::of(all);
}

Value one_case(Run& run, const Value& self, bool upper_case) {
  bool cased = false;
  const Value none_wrong = all_of(run, self, [&](char32_t c) {
    if (is_title(c) || (upper_case ? is_lower(c) : is_upper(c))) return false;
    cased = cased || (upper_case ? is_upper(c) : is_lower(c));
    return true;
  });
  return none_wrong.failed() ? none_wrong : Value::of(none_wrong.truth && cased);
}

}  // namespace

Value capitalize(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kCapitalize);
}

Value casefold(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kFold);
}

Value lower(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kLower);
}

Value swapcase(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kSwap);
}

Value title(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kTitle);
}

Value upper(Run& run, const Value& self, Args) {
  return change_case(run, *self.text, Case::kUpper);
}

Value isalnum(Run& run, const Value& self, Args) {
  return all_of(run, self, [](char32_t c) { return is_alpha(c) || is_numeric(c); });
}

Value isalpha(Run& run, const Value& self, Args) {
  return all_of(run, self, is_alpha);
}

Value isascii(Run& run, const Value& self, Args) {
  return all_of(
      run, self, [](char32_t c) { return c < 0x80; }, true);
}

Value isdecimal(Run& run, const Value& self, Args) {
  return all_of(run, self, is_decimal);
}

Value isdigit(Run& run, const Value& self, Args) {
  return all_of(run, self, is_digit);
}

Value isnumeric(Run& run, const Value& self, Args) {
  return all_of(run, self, is_numeric);
}

Value isprintable(Run& run, const Value& self, Args) {
  return all_of(run, self, is_printable, true);
}

Value isspace(Run& run, const Value& self, Args) {
  return all_of(run, self, is_space);
}

Value isidentifier(Run& run, const Value& self, Args) {
  // Names are ASCII or short: the whole is charged at once.
  if (!run.charge(self.bytes().size(), Rate::kTables)) return Value::failure();
  return Value::of(is_identifier(self.bytes()));
}

Value islower(Run& run, const Value& self, Args) {
  return one_case(run, self, false);
}

Value isupper(Run& run, const Value& self, Args) {
  return one_case(run, self, true);
}

Value istitle(Run& run, const Value& self, Args) {
  bool cased = false, in_word = false;
  const Value holds = all_of(run, self, [&](char32_t c) {
    const bool raised = is_upper(c) || is_title(c);
    if (raised ? in_word : (is_lower(c) && !in_word)) return false;
    in_word = raised || is_lower(c);
    cased = cased || in_word;
    return true;
  });
  return holds.failed() ? holds : Value::of(holds.truth && cased);
}

}  // namespace wick::jinja::methods
