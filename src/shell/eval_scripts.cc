// awk and sed programs: read for what leaves them (commands, files, network), not run.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/escapes.h"

namespace wick::shell {

namespace {

struct Token {
  enum Kind : std::uint8_t { kWord, kString, kOther } kind = kOther;

  std::string text = {};
};

// A string of awk; nothing where awks read it differently.
std::optional<std::string> awk_string(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    ++i;
    if (i >= text.size()) return std::nullopt;
    if (text[i] == '/') {
      out += '/';
    } else if (std::string_view("abfnrtv\\\"").find(text[i]) != std::string_view::npos) {
      out += decode_ansi(text.substr(i - 1, 2));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// The end of a regular expression behind its first slash. mawk ends a bracket expression at the
// first `]`, gawk and POSIX read `[]x]` and `[[:alpha:]x]` as one.
std::size_t end_of_regex(std::string_view text, std::size_t at, bool is_posix) {
  bool in_bracket = false;
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (!in_bracket && c == '/') {
      return at;
    } else if (!in_bracket && c == '[') {
      in_bracket = true;
      if (is_posix && text.substr(at + 1).starts_with('^')) ++at;
      if (is_posix && text.substr(at + 1).starts_with(']')) ++at;
    } else if (in_bracket && is_posix && c == '[' && text.substr(at + 1).starts_with(':')) {
      const std::size_t close = text.find(":]", at + 2);
      if (close == std::string_view::npos) return close;
      at = close + 1;
    } else if (c == ']') {
      in_bracket = false;
    }
  }
  return std::string_view::npos;
}

// Cuts an awk program; false where a string or regular expression is not closed, and where awks
// differ in what a slash means.
class AwkCutter {
 public:
  AwkCutter(std::string_view text, std::vector<Token>& out) : text_(text), out_(out) {}

  bool cut() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\\' && text_.substr(at_ + 1).starts_with('\n')) {
        at_ += 2;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"') {
        if (!string()) return false;
      } else if (is_word(c)) {
        if (!word()) return false;
      } else if (c == '/') {
        if (!slash()) return false;
      } else {
        operation();
      }
    }
    return true;
  }

 private:
  enum class Before : std::uint8_t { kOperand, kOperator, kUnclear };

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  // A name, keyword or number. A name may stand right behind a number: `1system("ls")`.
  bool word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_]))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const std::size_t letter = word.find_first_not_of("0123456789");
    const bool is_exponent = letter != std::string_view::npos && word[letter] == 'e' &&
                             letter + 1 < word.size() &&
                             word.find_first_not_of("0123456789", letter + 1) == word.npos;
    if (letter > 0 && letter != std::string_view::npos && !is_exponent) return false;
    out_.push_back({Token::kWord, std::string(word)});
    return true;
  }

  bool string() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"')
      end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    out_.push_back({Token::kString, awk_string(text_.substr(at_ + 1, end - at_ - 1)).value_or("")});
    at_ = end + 1;
    return true;
  }

  // What stands before a slash: behind an operand it divides.
  Before before() const {
    if (out_.empty()) return Before::kOperator;
    const Token& last = out_.back();
    if (last.kind == Token::kString) return Before::kOperand;
    if (last.kind == Token::kWord) {
      if (is_any_of(last.text, {"print", "return", "case"})) return Before::kOperator;
      return is_any_of(last.text, {"printf", "in", "else", "do", "exit", "getline", "delete",
                                   "next", "nextfile", "break", "continue", "function", "func"})
                 ? Before::kUnclear
                 : Before::kOperand;
    }
    if (is_any_of(last.text, {"++", "--"})) return Before::kUnclear;
    if (last.text == ")") return is_condition_ ? Before::kUnclear : Before::kOperand;
    return last.text == "]" ? Before::kOperand : Before::kOperator;
  }

  bool slash() {
    const std::size_t end = end_of_regex(text_, at_ + 1, true);
    const Before what = before();
    if (what == Before::kOperand ||
        (what == Before::kUnclear && text_.find('/', at_ + 1) == std::string_view::npos)) {
      out_.push_back({Token::kOther, "/"});
      ++at_;
      return true;
    }
    if (what == Before::kUnclear || end == std::string_view::npos ||
        end != end_of_regex(text_, at_ + 1, false))
      return false;
    out_.push_back({Token::kString, ""});
    at_ = end + 1;
    return true;
  }

  void operation() {
    static constexpr std::string_view kOps[] = {
        "||", "&&", ">>", ">=", "<=", "==", "!=", "|&", "++", "--"};
    std::string op(1, text_[at_]);
    for (const std::string_view two : kOps) {
      if (text_.substr(at_, 2) == two) op = two;
    }
    if (op == "(")
      opened_by_.push_back(!out_.empty() && is_any_of(out_.back().text, {"if", "while", "for"}));
    is_condition_ = op == ")" && !opened_by_.empty() && opened_by_.back();
    if (op == ")" && !opened_by_.empty()) opened_by_.pop_back();
    out_.push_back({Token::kOther, op});
    at_ += op.size();
  }

  std::string_view text_;
  std::vector<Token>& out_;
  std::size_t at_ = 0;
  std::vector<bool> opened_by_ = {};  // for each open parenthesis, whether by `if` and the like
  bool is_condition_ = false;         // the last `)` closes such a one
};

class AwkProgram {
 public:
  explicit AwkProgram(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<std::string> commands, files, reads;
  bool has_unknown = false;

  void read() {
    int parens = 0;
    int print_parens = -1;  // depth at which a print statement stands
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.kind == Token::kWord) {
        if (t.text == "print" || t.text == "printf") print_parens = parens;
        if (t.text == "system") constant(i + 1, "(", commands);
        if (t.text == "getline") redirected_getline(i + 1);
        continue;
      }
      if (t.kind == Token::kString) continue;
      if (t.text == "(" || t.text == "[") ++parens;
      if (t.text == ")" || t.text == "]") --parens;
      if (t.text == ";" || t.text == "}") print_parens = -1;
      if (t.text == "\n" && parens <= print_parens && !goes_on_behind(i)) print_parens = -1;
      if (t.text == "@" || t.text == "|&") has_unknown = true;
      if (t.text == "|") pipe(i);
      if ((t.text == ">" || t.text == ">>") && print_parens >= 0 && parens <= print_parens)
        constant(i + 1, "", files);
    }
  }

 private:
  std::string at(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind != Token::kString ? tokens_[i].text : "";
  }

  // Whether the statement goes on behind the line's end at `i`.
  bool goes_on_behind(std::size_t i) const {
    return i > 0 && is_any_of(at(i - 1), {",", "&&", "||", "?", ":"});
  }

  bool ends_at(std::size_t i) const {
    if (i >= tokens_.size()) return true;
    const Token& t = tokens_[i];
    return t.kind == Token::kOther &&
           (t.text == ")" || t.text == ";" || t.text == "\n" || t.text == "}");
  }

  // A constant string at `i` (behind `open`), and nothing more.
  void constant(std::size_t i, std::string_view open, std::vector<std::string>& out) {
    if (!open.empty() && at(i++) != open) return void(has_unknown = true);
    const bool is_string =
        i < tokens_.size() && tokens_[i].kind == Token::kString && !tokens_[i].text.empty();
    if (!is_string || !ends_at(i + 1)) return void(has_unknown = true);
    out.push_back(tokens_[i].text);
  }

  // getline [lvalue] < "file"
  void redirected_getline(std::size_t i) {
    int open = 0;
    for (; i < tokens_.size(); ++i) {
      const std::string text = at(i);
      if (text == "[") ++open;
      if (open == 0 && tokens_[i].kind != Token::kWord && text != "$") break;
      if (text == "]") --open;
    }
    if (at(i) == "<") constant(i + 1, "", reads);
  }

  void pipe(std::size_t i) {
    if (at(i + 1) == "getline") {
      const bool is_constant = i > 0 && tokens_[i - 1].kind == Token::kString &&
                               (i == 1 || ends_at(i - 2) || at(i - 2) == "{" || at(i - 2) == "(");
      if (!is_constant) return void(has_unknown = true);
      commands.push_back(tokens_[i - 1].text);
      return;
    }
    constant(i + 1, "", commands);
  }

  std::vector<Token> tokens_;
};

}  // namespace

Stream Commands::awk(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("awk");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  if (usage.is_help) return out;
  if (usage.has("-f") || usage.has("--file")) {
    e.unknown(argv[0].span, "", "an awk program in a file whose content is unknown");
    return out;
  }
  if (usage.operands().empty()) return out;
  const Arg& program = *usage.operands().front().arg;
  if (!program.is_exact()) {
    e.unknown(program.span, "", "an awk program that is not known");
    return out;
  }
  std::vector<Token> tokens;
  const bool is_bad = !AwkCutter(program.text(), tokens).cut();
  AwkProgram found(std::move(tokens));
  if (!is_bad) found.read();
  if (is_bad || found.has_unknown)
    e.unknown(program.span, "",
              is_bad ? "an awk program that is not understood"
                     : "an awk program that runs a command or writes a file of unknown name");
  State copy = e.new_shell(s);
  for (const std::string& code : found.commands)
    e.run_code(code, program.span, copy, Stream::unknown(), Dialect::kPosix);
  for (const std::string& path : found.files) {
    if (path.starts_with("/inet")) e.apply_effect('X', program.span, "awk");
    e.write_stream({.value = Value::exact(path), .span = program.span}, Stream::unknown(), false,
                   s);
  }
  for (const std::string& path : found.reads) {
    if (path.starts_with("/inet")) e.apply_effect('n', program.span, "awk");
    e.touch_path(EffectKind::kReadsContent, path, program.span, s, {});
  }
  return out;
}

namespace {

// Reads a sed script; what it would run, write and read.
class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  std::vector<std::string> commands, writes, reads;
  bool runs_unknown = false;

  bool read() {
    while (skip()) {
      if (!address()) return false;
      if (!command()) return false;
    }
    return true;
  }

 private:
  char cur() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool skip() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n;").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size();
  }

  void blanks() {
    while (cur() == ' ' || cur() == '\t')
      ++at_;
  }

  // Up to an unescaped `end`, brackets minded.
  bool delimited(char end) {
    while (at_ < text_.size() && text_[at_] != end) {
      if (text_[at_] == '\\') ++at_;
      ++at_;
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  bool one_address(bool& found) {
    found = true;
    if (cur() == '$') {
      ++at_;
    } else if (cur() >= '0' && cur() <= '9') {
      while ((cur() >= '0' && cur() <= '9') || cur() == '~')
        ++at_;
    } else if (cur() == '/' || cur() == '\\') {
      if (cur() == '\\') ++at_;
      const char end = cur();
      ++at_;
      if (!delimited(end)) return false;
      while (cur() == 'I' || cur() == 'M')
        ++at_;
    } else {
      found = false;
    }
    return true;
  }

  bool address() {
    bool found = false;
    if (!one_address(found)) return false;
    blanks();
    if (found && cur() == ',') {
      ++at_;
      blanks();
      if (cur() == '+' || cur() == '~') ++at_;
      if (!one_address(found) || !found) return false;
    }
    blanks();
    while (cur() == '!')
      ++at_;
    blanks();
    return true;
  }

  std::string line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }

  // An odd number of backslashes at its end.
  static bool line_goes_on(const std::string& line) {
    const std::size_t last = line.find_last_not_of('\\');
    const std::size_t n = line.size() - (last == std::string::npos ? 0 : last + 1);
    return n % 2 == 1;
  }

  bool is_end_of_command() {
    blanks();
    return cur() == '\0' || cur() == ';' || cur() == '\n' || cur() == '}' || cur() == '#';
  }

  bool command();
  bool substitute();

  std::string_view text_;
  std::size_t at_ = 0;
};

bool SedScript::command() {
  const char c = cur();
  if (c == '\0') return false;
  ++at_;
  if (c == '{' || c == '}') return true;
  if (c == '#') {
    line();
    return true;
  }
  if (std::string_view("=dDgGhHnNpPxFz").find(c) != std::string_view::npos) {
    return is_end_of_command();
  }
  if (std::string_view("qQlL").find(c) != std::string_view::npos) {
    blanks();
    while (cur() >= '0' && cur() <= '9')
      ++at_;
    return true;
  }
  if (std::string_view("aic").find(c) != std::string_view::npos) {
    while (line_goes_on(line()) && at_ < text_.size())
      ++at_;
    return true;
  }
  if (std::string_view("btT:v").find(c) != std::string_view::npos) {
    blanks();
    while (at_ < text_.size() && std::string_view(" \t\n;}").find(cur()) == std::string_view::npos)
      ++at_;
    return is_end_of_command();  // GNU sed begins another one behind a blank
  }
  if (c == 's') return substitute();
  if (c == 'y') {
    const char end = cur();
    ++at_;
    return end != '\0' && delimited(end) && delimited(end);
  }
  blanks();
  if (c == 'r' || c == 'R') {
    reads.push_back(line());
  } else if (c == 'w' || c == 'W') {
    writes.push_back(line());
  } else if (c == 'e') {
    commands.push_back(line());
    runs_unknown = runs_unknown || commands.back().empty();
  } else {
    return false;
  }
  return true;
}

bool SedScript::substitute() {
  const char end = cur();
  if (end == '\0' || end == '\n' || end == '\\') return false;
  ++at_;
  if (!delimited(end) || !delimited(end)) return false;
  while (true) {
    const char c = cur();
    if (c == 'w') {
      ++at_;
      blanks();
      writes.push_back(line());
      return true;
    }
    if (c == 'e' || c == 'm' || c == 'M' || c == 'g' || c == 'p' || c == 'i' || c == 'I' ||
        (c >= '0' && c <= '9')) {
      runs_unknown = runs_unknown || c == 'e';
      ++at_;
      continue;
    }
    return is_end_of_command();
  }
}

}  // namespace

namespace {

// `s/$/TEXT/`: each line, and a text behind it that leads to a place below.
bool appends_text(std::string_view script) {
  if (script.size() < 5 || script[0] != 's' || script[2] != '$' || script[3] != script[1])
    return false;
  const char mark = script[1];
  std::size_t at = 4;
  std::string text;
  for (; at < script.size() && script[at] != mark; ++at) {
    if (script[at] == '\\' && (++at >= script.size() || script[at] != mark)) return false;
    text += script[at];
  }
  const std::string_view rest = script.substr(std::min(at + 1, script.size()));
  return at < script.size() && (rest.empty() || rest == "g") &&
         text.find_first_of("&\n") == std::string::npos && text.find("..") == std::string::npos;
}

}  // namespace

Stream Commands::sed(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("sed");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  if (usage.is_help) return out;
  if (usage.has("-f") || usage.has("--file")) {
    e.unknown(argv[0].span, "", "a sed script in a file whose content is unknown");
    return out;
  }
  std::vector<Arg> scripts;
  const bool has_option = usage.has("-e") || usage.has("--expression");
  for (const Usage::Item& item : usage.items) {
    if (item.role == '.') scripts.push_back(*item.arg);
  }
  if (!has_option && usage.operands().empty()) return out;
  std::string text;
  for (const Arg& script : scripts) {
    if (!script.is_exact()) {
      // A known beginning and end with a word of unknown text between: it may end the expression.
      e.unknown(script.span, "",
                "a sed script that is not fully known: `e` and `w` in it run and write");
      return out;
    }
    if (!text.empty()) text += '\n';
    text += script.text();
  }
  if (in.is_names && !in.is_nul && appends_text(text) && usage.items.size() == scripts.size()) {
    out.is_names = true;
    out.prefix = in.prefix;
  }
  SedScript parsed(text);
  const Span span = scripts.empty() ? argv[0].span : scripts.front().span;
  if (!parsed.read()) e.unknown(span, "", "a sed script that is not understood");
  if (parsed.runs_unknown) e.unknown(span, "", "a sed script that runs what it reads");
  State copy = e.new_shell(s);
  for (const std::string& code : parsed.commands)
    e.run_code(code, span, copy, Stream::unknown(), Dialect::kPosix);
  for (const std::string& path : parsed.writes)
    e.write_stream({.value = Value::exact(path), .span = span}, Stream::unknown(), false, s);
  for (const std::string& path : parsed.reads)
    e.touch_path(EffectKind::kReadsContent, path, span, s, {});
  return out;
}

}  // namespace wick::shell
