// Converts template text to tokens, with jinja2's rules for trim_blocks and lstrip_blocks: removes
// the newline after a block tag and the blanks before it; "-" removes all white space on its side,
// "+" keeps it; removes the last newline; \r\n and \r become \n. Any thread.
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
