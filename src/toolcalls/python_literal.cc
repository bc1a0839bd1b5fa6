#include "toolcalls/python_literal.h"

#include <utility>

#include "base/hex.h"
#include "base/strings.h"
#include "chat/json_value.h"
#include "chat/python_text.h"
#include "toolcalls/limits.h"
#include "toolcalls/tool_format.h"

namespace wick {

namespace {

bool is_word_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '+' || c == '-';
}

int hex_digits(char c) noexcept {
  return c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
}

}  // namespace

bool PythonLiteral::fail() {
  is_bad_ = true;
  return false;
}

// A character of a JSON string; a byte of a longer UTF-8 character is passed on as it is.
void PythonLiteral::put(char32_t code, std::string& json) {
  std::string text;
  append_utf8(text, code);
  append_json_escaped(json, text, false);
}

void PythonLiteral::push_escape(char c, std::string& json) {
  escape_ += c;
  const int n_digits = hex_digits(escape_[1]);
  if (n_digits > 0) {
    if (escape_.size() < 2 + static_cast<std::size_t>(n_digits)) return;
    char32_t code = 0;
    for (const char digit : std::string_view(escape_).substr(2)) {
      if (hex_value(digit) < 0) return static_cast<void>(fail());
      code = code * 16 + static_cast<char32_t>(hex_value(digit));
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    if (is_surrogate && n_digits == 4) {
      json += escape_;  // JSON spells pairs in the same way
    } else if (code > 0x10FFFF || is_surrogate) {
      return static_cast<void>(fail());
    } else {
      put(code, json);
    }
    escape_.clear();
    return;
  }
  constexpr std::string_view kNames = "ntrbfav0'\"\\/\n";
  constexpr std::string_view kCodes{"\n\t\r\b\f\a\v\0'\"\\/", 12};
  const std::size_t at = kNames.find(c);
  if (at == std::string_view::npos) {  // as in Python
    put('\\', json);
    append_json_escaped(json, std::string_view(&c, 1), false);
  } else if (at < kCodes.size()) {
    put(static_cast<unsigned char>(kCodes[at]), json);
  }
  escape_.clear();
}

bool PythonLiteral::push_string(char c, std::string& json) {
  if (!escape_.empty()) {
    push_escape(c, json);
    return !is_bad_;
  }
  if (c == '\\') {
    escape_ = c;
  } else if (c == quote_) {
    quote_ = 0;
    json += '"';
    if (is_key_) {
      want_ = Want::kColon;
    } else {
      end_value();
    }
  } else if ((static_cast<unsigned char>(c) & 0x80U) != 0) {
    json += c;
  } else {
    put(static_cast<unsigned char>(c), json);
  }
  return true;
}

void PythonLiteral::end_value() {
  is_over_ = open_.empty();
  want_ = Want::kNext;
}

bool PythonLiteral::end_word(std::string& json) {
  const std::string word = std::exchange(word_, {});
  const bool is_true = word == "True" || word == "true",
             is_false = word == "False" || word == "false";
  if (is_true || is_false) {
    json += is_true ? "true" : "false";
  } else if (word == "None" || word == "null") {
    json += "null";
  } else {
    const auto number = parse_json(word);
    const bool is_number = number && (number->integer() != nullptr || number->number() != nullptr);
    if (!is_number) return fail();
    json += word;
  }
  end_value();
  return true;
}

bool PythonLiteral::open(char c, std::string& json) {
  if (open_.size() >= kMaxLiteralDepth) return fail();
  open_ += c;
  json += c == '{' ? '{' : '[';
  has_comma_ = false;
  want_ = c == '{' ? Want::kKeyOrEnd : Want::kValueOrEnd;
  return true;
}

bool PythonLiteral::close(char c, std::string& json) {
  const char wanted = open_.empty()         ? '\0'
                      : open_.back() == '{' ? '}'
                      : open_.back() == '[' ? ']'
                                            : ')';
  if (c != wanted) return open_.empty() && is_over_ ? false : fail();
  open_.pop_back();
  json += c == '}' ? '}' : ']';
  has_comma_ = false;
  end_value();
  return true;
}

bool PythonLiteral::push(char c, std::string& json) {
  if (is_bad_) return false;
  if (quote_ != 0) return push_string(c, json);
  if (!word_.empty()) {
    if (is_word_byte(c)) {
      word_ += c;
      return word_.size() <= kMaxLiteralWord || fail();
    }
    if (!end_word(json)) return false;
  }
  if (is_over_) return is_call_space(c);
  if (is_call_space(c)) return true;
  const bool is_end = c == '}' || c == ']' || c == ')';
  if (is_end && (want_ == Want::kNext || want_ == Want::kKeyOrEnd || want_ == Want::kValueOrEnd))
    return close(c, json);
  if (want_ == Want::kColon) {
    if (c != ':') return fail();
    json += ": ";
    want_ = Want::kValue;
    is_key_ = false;
    return true;
  }
  if (want_ == Want::kNext) {
    if (c != ',') return fail();
    has_comma_ = true;
    want_ = open_.back() == '{' ? Want::kKeyOrEnd : Want::kValueOrEnd;
    return true;
  }
  if (std::exchange(has_comma_, false)) json += ", ";
  is_key_ = want_ == Want::kKeyOrEnd;
  if (c == '\'' || c == '"') {
    quote_ = c;
    json += '"';
    return true;
  }
  if (is_key_) return fail();
  if (c == '[' || c == '{' || c == '(') return open(c, json);
  if (!is_word_byte(c)) return fail();
  word_ = c;
  return true;
}

bool PythonLiteral::finish(std::string& json) {
  if (is_bad_ || quote_ != 0) return false;
  if (!word_.empty() && !end_word(json)) return false;
  return is_over_;
}

std::optional<std::string> json_of_python(std::string_view text) {
  PythonLiteral literal;
  std::string json;
  for (const char c : text) {
    if (!literal.push(c, json)) return std::nullopt;
  }
  if (!literal.finish(json)) return std::nullopt;
  return json;
}

}  // namespace wick
