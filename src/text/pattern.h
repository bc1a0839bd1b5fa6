// A regular expression as tokenizer files spell it (Oniguruma's Ruby syntax), over UTF-8. The
// house's own automaton (text/dfa.h) runs those of nearly all known families. What it does not
// take, PCRE2 runs: the pattern is translated so that the classes mean what they mean in Hugging
// Face's library: \s is White_Space, and \p{..} covers what Unicode added after PCRE2's tables
// (tools/goldens/text_unicode.py). A Pattern is immutable and shared by threads; a Matcher holds
// the state of one search and belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/marked_text.h"
#include "base/result.h"
#include "text/limits.h"

namespace wick {

class Dfa;

class Pattern {
 public:
  // kUnsupported: a construct whose meaning differs between the two engines; kCorrupt: no regex.
  static Result<Pattern> compile(std::string_view regex);
  static Result<Pattern> literal(std::string_view text);
  // The same, always run by PCRE2: what tests hold the automaton against.
  static Result<Pattern> compile_pcre2(std::string_view regex);

  const Dfa* automaton() const noexcept;  // nullptr: PCRE2 runs it

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

 private:
  friend class Matcher;
  struct Code;
  static Result<Pattern> build(std::string_view translated, std::string_view shown,
                               bool is_literal);
  explicit Pattern(std::unique_ptr<Code> code);
  std::unique_ptr<Code> code_;
};

class Matcher {
 public:
  Matcher();
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // The first match in `text` (valid UTF-8) that starts at or after `from`. A search through a text
  // starts with `from` = 0. None also once a pattern has reached its limit of work (text/limits.h).
  std::optional<Span> find(const Pattern& pattern, std::string_view text, std::size_t from);

  // The first limit that was reached since begin(), with the pattern's name. What the matches are
  // worth is then nothing.
  const std::optional<Error>& error() const noexcept { return error_; }

  // What comes is new work, with limits of its own; each text that is searched adds to them.
  void begin() noexcept;

  void release() noexcept;  // memory that a long match took

  // PCRE2's steps since begin(), as far as they are more than each start of a match has free.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  std::optional<Span> find_pcre2(const Pattern& pattern, std::string_view text, std::size_t from);
  std::optional<Span> find_counted(const Pattern& pattern, std::string_view text,
                                   std::size_t start);

  struct State;
  std::unique_ptr<State> state_;  // PCRE2's, made when there is something to do for it
  std::size_t work_ = 0;          // the automaton's, in this text
  std::uint64_t steps_ = 0, most_steps_ = kMaxPatternSteps;
  std::optional<Error> error_ = {};
};

// `regex` in PCRE2's syntax. For tests and for compile().
Result<std::string> to_pcre2(std::string_view regex);

}  // namespace wick
