#include "chat/lexer.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "chat/limits.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

// Longest first: "**" before "*".
constexpr std::array<std::string_view, 26> kOperators = {
    "==", "!=", ">=", "<=", "//", "**", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

std::size_t skip_space(std::string_view text, std::size_t at) noexcept {
  while (at < text.size()) {
    const CodePoint c = code_point(text, at);
    if (!is_space(c.value)) break;
    at += c.size;
  }
  return at;
}

bool is_blank(std::string_view text) noexcept {
  return skip_space(text, 0) == text.size();
}

bool is_number_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// The end of "1", "12", "1_000" from `at`, which is `at` if there is no digit.
std::size_t skip_digits(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() &&
         (is_number_digit(text[end]) || (text[end] == '_' && end > at && end + 1 < text.size() &&
                                         is_number_digit(text[end + 1])))) {
    ++end;
  }
  return end;
}

// The end of "0x1f", "0b1", "0o7" from `at`, `at` if there is none.
std::size_t skip_prefixed(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < 3 || text[at] != '0') return at;
  const char base = static_cast<char>(text[at + 1] | 0x20);
  const std::string_view digits = base == 'b'   ? "01"
                                  : base == 'o' ? "01234567"
                                  : base == 'x' ? "0123456789abcdefABCDEF"
                                                : "";
  std::size_t end = at + 2;
  while (end < text.size()) {
    const std::size_t digit = end + (text[end] == '_' ? 1 : 0);
    if (digit >= text.size() || digits.find(text[digit]) == std::string_view::npos) break;
    end = digit + 1;
  }
  return end == at + 2 ? at : end;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      WICK_DO(root());
      if (tokens_.size() > kMaxTemplateTokens) return too_long();
    }
    add(TokenKind::kEnd, source_.size(), source_.size());
    return std::move(tokens_);
  }

 private:
  void add(TokenKind kind, std::size_t begin, std::size_t end) {
    tokens_.push_back(
        {kind, static_cast<std::uint32_t>(begin), source_.substr(begin, end - begin)});
  }

  void add_data(std::size_t begin, std::size_t end) {
    if (end > begin) add(TokenKind::kData, begin, end);
  }

  bool starts(std::size_t at, std::string_view with) const noexcept {
    return source_.substr(at, with.size()) == with;
  }

  Error too_long() const {
    Error error = syntax_error(source_, at_,
                               cat("the template has more than ", kMaxTemplateTokens, " tokens"));
    error.id = "template_limit";
    return error;
  }

  Error error(std::size_t at, std::string_view what) const {
    return syntax_error(source_, at, what);
  }

  // Where the data before a tag at `tag` ends, given the sign after the tag's "{%".
  std::size_t data_end(std::size_t begin, std::size_t tag, char sign, bool may_lstrip) const {
    if (sign == '-') {
      while (tag > begin) {
        const std::size_t last = before(source_, tag);
        if (last < begin || !is_space(code_point(source_, last).value)) break;
        tag = last;
      }
      return tag;
    }
    if (sign == '+' || !may_lstrip) return tag;
    const std::size_t newline = source_.substr(begin, tag - begin).rfind('\n');
    const bool on_new_line = newline != std::string_view::npos;
    if (!on_new_line && begin > 0 && source_[begin - 1] != '\n') return tag;
    const std::size_t line = on_new_line ? begin + newline + 1 : begin;
    return is_blank(source_.substr(line, tag - line)) ? line : tag;
  }

  char sign_at(std::size_t at) const noexcept {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : ' ';
  }

  Result<void> root() {
    const std::size_t begin = at_;
    std::size_t tag = begin;
    do {
      tag = source_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 >= source_.size()) {
        add_data(begin, source_.size());
        at_ = source_.size();
        return {};
      }
      const char next = source_[tag + 1];
      if (next == '%' || next == '{' || next == '#') break;
      ++tag;
    } while (true);
    const char sign = sign_at(tag + 2);
    const char kind = source_[tag + 1];
    add_data(begin, data_end(begin, tag, sign, kind != '{'));
    at_ = tag + (sign == ' ' ? 2 : 3);
    if (kind == '#') return comment(tag);
    if (kind == '%') {
      if (const std::size_t body = raw_begin(at_); body > 0) return raw(tag, body);
    }
    add(kind == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, tag, tag + 2);
    return tag_body(tag, kind == '%');
  }

  // Behind "%}" that starts at `at`: a newline goes if `trims`.
  std::size_t behind_end(std::size_t at, bool trims) const noexcept {
    return at + 2 + (trims && starts(at + 2, "\n") ? 1 : 0);
  }

  Result<void> comment(std::size_t tag) {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) return error(tag, "this comment is never closed by #}");
    const char sign = end > at_ ? source_[end - 1] : ' ';
    at_ = sign == '-'   ? skip_space(source_, end + 2)
          : sign == '+' ? end + 2
                        : behind_end(end, true);
    return {};
  }

  // The byte after the tag if the tag whose inside starts at `at` is "raw", else 0.
  std::size_t raw_begin(std::size_t at) const noexcept {
    at = skip_space(source_, at);
    if (!starts(at, "raw")) return 0;
    at = skip_space(source_, at + 3);
    if (starts(at, "-%}")) return skip_space(source_, at + 3);
    return starts(at, "%}") ? at + 2 : 0;
  }

  Result<void> raw(std::size_t tag, std::size_t body) {
    for (std::size_t end = body; (end = source_.find("{%", end)) != std::string_view::npos; ++end) {
      const char sign = sign_at(end + 2);
      std::size_t at = skip_space(source_, end + (sign == ' ' ? 2 : 3));
      if (!starts(at, "endraw")) continue;
      at = skip_space(source_, at + 6);
      const char close = sign_at(at);
      if (close != ' ') ++at;
      if (!starts(at, "%}")) continue;
      add_data(body, data_end(body, end, sign, true));
      at_ = close == '-' ? skip_space(source_, at + 2) : behind_end(at, close == ' ');
      return {};
    }
    return error(tag, "this raw block is never closed by {% endraw %}");
  }

  Result<void> tag_body(std::size_t tag, bool is_block) {
    const std::string_view close = is_block ? "%}" : "}}";
    std::vector<char> open;
    while (at_ < source_.size()) {
      if (open.empty() && end_tag(close, is_block)) return {};
      const CodePoint c = code_point(source_, at_);
      if (is_space(c.value)) {
        at_ += c.size;
        continue;
      }
      const std::size_t end = token_end(c);
      if (end == at_) {
        return error(at_, cat("unexpected character '", source_.substr(at_, c.size), "'"));
      }
      at_ = end;
      if (tokens_.size() > kMaxTemplateTokens) return too_long();
      if (tokens_.back().kind == TokenKind::kOperator) WICK_DO(balance(open));
      if (tokens_.back().kind == TokenKind::kName && !is_identifier(tokens_.back().text)) {
        return error(tokens_.back().at, cat("'", tokens_.back().text, "' is no name"));
      }
    }
    return error(tag, cat("this tag is never closed by ", close));
  }

  bool end_tag(std::string_view close, bool is_block) {
    const std::size_t begin = at_;
    const char sign = sign_at(at_);
    const std::size_t at = at_ + (sign == ' ' || (sign == '+' && !is_block) ? 0 : 1);
    if (!starts(at, close)) return false;
    add(is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, begin, at + 2);
    at_ = sign == '-' ? skip_space(source_, at + 2) : behind_end(at, is_block && sign == ' ');
    return true;
  }

  // Adds the token that starts at at_ with character `c`; returns its end, at_ if there is none.
  std::size_t token_end(CodePoint c) {
    if (const std::size_t end = number_end(); end > at_) return end;
    std::size_t end = at_;
    for (CodePoint next = c; is_word(next.value); next = code_point(source_, end)) {
      end += next.size;
      if (end == source_.size()) break;
    }
    if (end > at_) {
      add(TokenKind::kName, at_, end);
      return end;
    }
    if (c.value == '\'' || c.value == '"') {
      for (end = at_ + 1; end < source_.size() && source_[end] != source_[at_]; ++end) {
        if (source_[end] == '\\') ++end;
      }
      if (end >= source_.size()) return at_;
      add(TokenKind::kString, at_, end + 1);
      return end + 1;
    }
    for (const std::string_view op : kOperators) {
      if (!starts(at_, op)) continue;
      add(TokenKind::kOperator, at_, at_ + op.size());
      return at_ + op.size();
    }
    return at_;
  }

  std::size_t number_end() {
    std::size_t end = skip_digits(source_, at_);
    if (end == at_) return at_;
    const bool behind_point = at_ > 0 && source_[at_ - 1] == '.';
    std::size_t real = end;
    if (!behind_point) {
      if (starts(real, ".") && skip_digits(source_, real + 1) > real + 1) {
        real = skip_digits(source_, real + 1);
      }
      if (real < source_.size() && (source_[real] | 0x20) == 'e') {
        const std::size_t digits = real + 1 + (sign_at(real + 1) == ' ' ? 0 : 1);
        if (skip_digits(source_, digits) > digits) real = skip_digits(source_, digits);
      }
    }
    if (real > end) {
      add(TokenKind::kFloat, at_, real);
      return real;
    }
    if (const std::size_t prefixed = skip_prefixed(source_, at_); prefixed > at_) {
      end = prefixed;
    } else if (source_[at_] == '0') {  // "012" is a 0 and a 12, as Python's own rule has it
      end = at_ + 1;
      while (starts(end, "0") || starts(end, "_0")) {
        end += source_[end] == '_' ? 2 : 1;
      }
    }
    add(TokenKind::kInteger, at_, end);
    return end;
  }

  Result<void> balance(std::vector<char>& open) const {
    const Token& token = tokens_.back();
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) return error(token.at, cat("unexpected '", c, "'"));
      if (open.back() != c) {
        return error(token.at, cat("unexpected '", c, "', expected '", open.back(), "'"));
      }
      open.pop_back();
    }
    return {};
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::string normalized(std::string_view jinja) {
  std::string out;
  out.reserve(jinja.size());
  for (std::size_t i = 0; i < jinja.size(); ++i) {
    out += jinja[i] == '\r' ? '\n' : jinja[i];
    if (jinja[i] == '\r' && i + 1 < jinja.size() && jinja[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

Result<std::vector<Token>> tokenize(std::string_view source) {
  return Lexer(source).run();
}

std::string position(std::string_view source, std::size_t at) {
  const std::string_view before_it = source.substr(0, at);
  const auto line = std::count(before_it.begin(), before_it.end(), '\n') + 1;
  const std::size_t start = before_it.rfind('\n');
  const std::size_t column =
      count_code_points(start == std::string_view::npos ? before_it : before_it.substr(start + 1));
  return cat("line ", line, ", column ", column + 1);
}

Error syntax_error(std::string_view source, std::size_t at, std::string_view what) {
  return {ErrorCode::kInvalid, "template_syntax",
          cat("chat template, ", position(source, at), ": ", printable(what, 400))};
}

}  // namespace wick::jinja
