// A regular expression as tokenizer files spell it (Oniguruma's Ruby syntax), run by PCRE2's
// just-in-time compiler over UTF-8. The pattern is translated so that the classes mean what they
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

class Pattern {
 public:
  // kUnsupported: a construct whose meaning differs between the two engines; kCorrupt: no regex.
  static Result<Pattern> compile(std::string_view regex);
  static Result<Pattern> literal(std::string_view text);

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
  // pattern gives up at its limit of backtracking.
  std::optional<Span> find(const Pattern& pattern, std::string_view text, std::size_t from);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `regex` in PCRE2's syntax. For tests and for compile().
Result<std::string> to_pcre2(std::string_view regex);

}  // namespace wick
