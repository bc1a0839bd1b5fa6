// A regular expression as tokenizer files spell it (Oniguruma's Ruby syntax), over UTF-8. The
// house's own automaton (text/dfa.h) runs those of all known families. What it does not take,
// PCRE2's just-in-time compiler runs: the pattern is translated so that the classes mean what they
// mean in Hugging Face's library: \s is White_Space, and \p{..} covers what Unicode added after
// PCRE2's tables (tools/goldens/text_unicode.py). A Pattern is immutable and shared by threads; a
// Matcher holds the state of one search and belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/marked_text.h"
#include "base/result.h"

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

  // The first match in `text` (valid UTF-8) that starts at or after `from`; none also when the
  // pattern gives up at its limit of work. A search through a text starts with `from` = 0.
  std::optional<Span> find(const Pattern& pattern, std::string_view text, std::size_t from);

 private:
  std::optional<Span> find_pcre2(const Pattern& pattern, std::string_view text, std::size_t from);

  struct State;
  std::unique_ptr<State> state_;  // PCRE2's, made when there is something to do for it
  std::size_t work_ = 0;          // the automaton's, in this text
};

// `regex` in PCRE2's syntax. For tests and for compile().
Result<std::string> to_pcre2(std::string_view regex);

}  // namespace wick
