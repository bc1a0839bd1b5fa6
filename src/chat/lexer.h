// Template text to tokens, with jinja2's whitespace rules under trim_blocks and lstrip_blocks: the
// newline behind a block tag goes, blanks before one go, "-" takes all whitespace on its side, "+"
// keeps it; the template's last newline goes; \r\n and \r are \n. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick::jinja {

enum class TokenKind : std::uint8_t {
  kData,           // text outside of tags
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kName,
  kString,  // text: what lies between the quotes, escapes and all
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t at = 0;        // byte in the source
  std::string_view text = {};  // borrowed from the source

  bool is(std::string_view op) const noexcept { return kind == TokenKind::kOperator && text == op; }

  bool is_name(std::string_view name) const noexcept {
    return kind == TokenKind::kName && text == name;
  }
};

// `jinja` as the lexer reads it: newlines are \n, the last one is gone.
std::string normalized(std::string_view jinja);

// The tokens of a normalized source, which they borrow, ending in kEnd. Comments are gone, raw
// blocks are data, brackets are balanced.
Result<std::vector<Token>> tokenize(std::string_view source);

// A syntax error at a byte of the source: "chat template, line 3, column 7: …".
Error syntax_error(std::string_view source, std::size_t at, std::string_view what);

// "line 3, column 7": both count from 1, columns are characters.
std::string position(std::string_view source, std::size_t at);

}  // namespace wick::jinja
