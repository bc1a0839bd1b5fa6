#include <algorithm>

#include "grammar/grammar_rules.h"

namespace wick::grammar {

namespace {

// Behind white space and comments of all syntaxes.
std::string_view skip(std::string_view text) {
  const auto skip_to = [&](std::string_view end) {
    const std::size_t at = text.find(end);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  };
  while (!text.empty()) {
    if (text[0] == ' ' || text[0] == '\t' || text[0] == '\n' || text[0] == '\r') {
      text.remove_prefix(1);
    } else if (text[0] == '#' || text.starts_with("//")) {
      skip_to("\n");
    } else if (text.starts_with("/*")) {
      skip_to("*/");
    } else if (text.starts_with("(*")) {
      skip_to("*)");
    } else {
      break;
    }
  }
  return text;
}

bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

// The sign behind the first rule's name tells: "::=" GBNF or EBNF, "=" EBNF, ":" Lark.
GrammarSyntax detected_syntax(std::string_view text) {
  const std::string_view first = skip(text);
  std::string_view rest = first;
  if (rest.starts_with('%') || rest.starts_with('?') || rest.starts_with('!'))
    return GrammarSyntax::kLark;
  if (rest.starts_with('[')) return GrammarSyntax::kEbnf;  // a rule's number
  rest.remove_prefix(
      static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin()));
  const bool is_named = rest.size() < first.size();
  rest = skip(rest);
  if (is_named && rest.starts_with('=')) return GrammarSyntax::kEbnf;
  if (is_named && rest.starts_with(':') && !rest.starts_with("::=")) return GrammarSyntax::kLark;
  if (is_named && rest.starts_with('[')) return GrammarSyntax::kLark;  // attributes
  return GrammarSyntax::kGbnf;
}

}  // namespace wick::grammar
