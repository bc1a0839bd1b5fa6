// Parses files as shell scripts: one line a file, "ok", "refused LINE:COLUMN MESSAGE", or what is
// wrong with our print. Driven by tools/parity/shell_scripts.py.
//
//   shell_parse [--print | --typed] sh|bash|zsh|fish FILE…
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "shell/verdict.h"

int main(int argc, char** argv) {
  using namespace wick::shell;
  int at = 1;
  const bool is_typed = argc > 1 && std::strcmp(argv[1], "--typed") == 0;
  if (is_typed) ++at;
  const Mode mode = is_typed ? Mode::kInteractive : Mode::kScript;
  const bool prints = argc > 1 && std::strcmp(argv[1], "--print") == 0;
  if (prints) ++at;
  if (argc < at + 2) {
    std::cerr << "usage: shell_parse [--print | --typed] sh|bash|zsh|fish FILE...\n";
    return 2;
  }
  const auto dialect = dialect_named(argv[at]).value_or(Dialect::kBash);
  for (int i = at + 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const Parsed parsed = parse(text, dialect, mode);
    if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
      std::cout << argv[i] << "\t" << (error->is_limit ? "limit " : "refused ") << error->line
                << ":" << error->column << " " << error->message << "\n";
      continue;
    }
    const auto& script = std::get<Script>(parsed);
    const std::string printed = print(script);
    if (prints) {
      std::cout << printed;
      continue;
    }
    const Parsed again = parse(printed, dialect, mode);
    const auto* second = std::get_if<Script>(&again);
    const auto* error = std::get_if<SyntaxError>(&again);
    const bool is_equal = second != nullptr && equal(script, *second);
    std::cout << argv[i] << "\t"
              << (is_equal           ? "ok"
                  : error == nullptr ? "print differs"
                                     : "print does not parse: " + error->message)
              << "\n";
  }
  return 0;
}
