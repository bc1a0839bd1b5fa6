#include "chat/methods.h"
#include "chat/text_ops.h"
#include "chat/unicode.h"

namespace wick::jinja::methods {
namespace {

using Args = std::span<const Val>;

// Whether the text has characters and each of them passes; `if_empty` where it has none.
template <class Holds>
Val all_of(Run& run, const Val& self, const Holds& holds, bool if_empty = false) {
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
  return run.failed() ? Val::failure() : Val::of(all);
}

Val one_case(Run& run, const Val& self, bool upper_case) {
  bool cased = false;
  const Val none_wrong = all_of(run, self, [&](char32_t c) {
    if (is_title(c) || (upper_case ? is_lower(c) : is_upper(c))) return false;
    cased = cased || (upper_case ? is_upper(c) : is_lower(c));
    return true;
  });
  return none_wrong.failed() ? none_wrong : Val::of(none_wrong.truth && cased);
}

}  // namespace

Val capitalize(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kCapitalize);
}

Val casefold(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kFold);
}

Val lower(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kLower);
}

Val swapcase(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kSwap);
}

Val title(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kTitle);
}

Val upper(Run& run, const Val& self, Args) {
  return change_case(run, *self.text, Case::kUpper);
}

Val isalnum(Run& run, const Val& self, Args) {
  return all_of(run, self, [](char32_t c) { return is_alpha(c) || is_numeric(c); });
}

Val isalpha(Run& run, const Val& self, Args) {
  return all_of(run, self, is_alpha);
}

Val isascii(Run& run, const Val& self, Args) {
  return all_of(
      run, self, [](char32_t c) { return c < 0x80; }, true);
}

Val isdecimal(Run& run, const Val& self, Args) {
  return all_of(run, self, is_decimal);
}

Val isdigit(Run& run, const Val& self, Args) {
  return all_of(run, self, is_digit);
}

Val isnumeric(Run& run, const Val& self, Args) {
  return all_of(run, self, is_numeric);
}

Val isprintable(Run& run, const Val& self, Args) {
  return all_of(run, self, is_printable, true);
}

Val isspace(Run& run, const Val& self, Args) {
  return all_of(run, self, is_space);
}

Val isidentifier(Run& run, const Val& self, Args) {
  // Names are ASCII or short: the whole is charged at once.
  if (!run.charge(self.bytes().size(), Rate::kTables)) return Val::failure();
  return Val::of(is_identifier(self.bytes()));
}

Val islower(Run& run, const Val& self, Args) {
  return one_case(run, self, false);
}

Val isupper(Run& run, const Val& self, Args) {
  return one_case(run, self, true);
}

Val istitle(Run& run, const Val& self, Args) {
  bool cased = false, in_word = false;
  const Val holds = all_of(run, self, [&](char32_t c) {
    const bool raised = is_upper(c) || is_title(c);
    if (raised ? in_word : (is_lower(c) && !in_word)) return false;
    in_word = raised || is_lower(c);
    cased = cased || in_word;
    return true;
  });
  return holds.failed() ? holds : Val::of(holds.truth && cased);
}

}  // namespace wick::jinja::methods
