// A regular expression as tokenizer files spell it (Oniguruma's Ruby syntax), or a plain text, to
// search UTF-8 for. What regex/dfa.h cannot run is refused by name. A Pattern is immutable and
// shared by threads; a Matcher counts the work of one text's searches and belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/marked_text.h"
#include "base/result.h"
#include "regex/dfa.h"
#include "text/limits.h"

namespace wick {

class Pattern {
 public:
  // Errors have the id "tokenizer_pattern". kUnsupported: a construct that the automaton cannot
  // run, or a pattern that is too large. kCorrupt: not a regular expression.
  static Result<Pattern> compile(std::string_view regex);
  static Result<Pattern> literal(std::string_view text);

 private:
  friend class Matcher;

  Pattern(std::string_view shown, std::optional<regex::Dfa> dfa)
      : shown_(shown), dfa_(std::move(dfa)) {}

  std::string shown_;              // as the file has it
  std::optional<regex::Dfa> dfa_;  // none: `shown_` is what is searched for
};

class Matcher {
 public:
  // The first match in `text` (valid UTF-8) that starts at or after `from` and before its end. A
  // search through a text starts with `from` = 0. None also once the patterns have reached their
  // limit of work (text/limits.h).
  std::optional<Span> find(const Pattern& pattern, std::string_view text, std::size_t from);

  // The error if a limit was reached since begin(); it names the pattern. The matches found since
  // begin() are then incomplete.
  const std::optional<Error>& error() const noexcept { return error_; }

  // Forgets the error and the work counted so far. Each text that is searched from 0 raises the
  // limit by its length.
  void begin() noexcept;

 private:
  std::size_t work_ = 0, most_work_ = kMinVainBytes;
  std::optional<Error> error_ = {};
};

}  // namespace wick
