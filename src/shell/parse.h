// Text to syntax tree and back. Strict: the first construct that the parser does not know is an
// error with its place; it never repairs and never guesses, because a verdict stands on the tree.
// Pure functions, any thread.
//
//   WICK_TRY(const Script script, parse("ls -la | wc -l", Dialect::kBash, Mode::kScript));
//   print(script);                       // "ls -la | wc -l\n"; parse(print(s)) is equal to s
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "shell/syntax.h"

namespace wick::shell {

struct SyntaxError {
  Span span = {};
  int line = 1, column = 1;  // of span.begin, from 1, in bytes
  bool is_limit = false;     // a limit of shell/limits.h, not the grammar
  std::string message = {};  // one sentence, without the place
};

using Parsed = std::variant<Script, SyntaxError>;

// kPowershell is an error at once.
Parsed parse(std::string_view text, Dialect dialect, Mode mode);

// The same text, one command a line, in the dialect it was parsed in.
std::string print(const Script& script);
std::string print(const Node& node, Dialect dialect = Dialect::kBash);
std::string print(const Word& word, Dialect dialect = Dialect::kBash);

}  // namespace wick::shell
