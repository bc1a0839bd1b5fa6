// The line that a shell's widget puts into its buffer. Nothing runs: the user's own shell does
// that, if the user says so.
#include <algorithm>

#include "assist/quote.h"
#include "base/strings.h"
#include "cli/ask.h"
#include "cli/out.h"

namespace wick {

namespace {

using shell::Dialect;
using shell::Level;

Error not_shown(std::string what) {
  return {.code = ErrorCode::kUnavailable,
          .id = "not_for_a_buffer",
          .message = cat("the command ", what, ", so it is not put into the line"),
          .hint = "wick ask --print shows it, escaped"};
}

bool is_marked(const std::string& text) {
  return printable_lines(text).view() != text || text.find('\t') != std::string::npos;
}

// Where history expansion looks at a `!`: not before blanks, `=` and the end, not in single quotes.
bool is_expanded(std::string_view text, std::size_t at, Dialect dialect) {
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  if (next == ' ' || next == '\n' || next == '=') return false;
  const char before = at > 0 ? text[at - 1] : ' ';
  if (dialect == Dialect::kZsh) return next != '(';
  return before != '$' && before != '{' && before != '[' && next != '(';
}

// The text with each `!` that an interactive shell would expand as `\!`, outside of double quotes.
std::string without_history(std::string_view text) {
  std::string out;
  char quote = 0;  // ' or ", or 0
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '!' && quote != '\'' && is_expanded(text, i, Dialect::kBash)) {
      out += quote == '"' ? "\"\\!\"" : "\\!";
      continue;
    }
    out += c;
  }
  return out;
}

bool has_expanded(std::string_view text, Dialect dialect) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '!' && quote != '\'' && is_expanded(text, i, dialect)) {
      return true;
    }
  }
  return false;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A critical command is no command: it would have to be taken out of its comment.
std::string comment(const std::string& why, const std::string& command, Dialect dialect) {
  const std::string text = one_line(cat("critical: ", why, ": ", command));
  // zsh has no comments on a typed line.
  return dialect == Dialect::kZsh ? cat(": ", assist::quote_word(text, dialect)) : cat("# ", text);
}

}  // namespace

Result<int> answer_widget(const AskSetup& setup, const std::string& sentence,
                          const assist::Proposal& proposal) {
  const Dialect dialect = setup.machine.dialect;
  const bool has_history = dialect == Dialect::kBash || dialect == Dialect::kZsh;
  std::string line = proposal.command;
  if (is_marked(line)) return not_shown("has characters that a terminal obeys or does not show");
  if (has_history) line = without_history(line);
  if (has_history && has_expanded(line, dialect))
    return not_shown("has a '!' that the shell would replace");
  // The verdict is about the bytes that get into the line, as the shell reads a typed line.
  const shell::Verdict verdict = setup.judge(line, shell::Mode::kInteractive);
  const assist::RuleResult result = setup.ruled(line, verdict);
  if (result.is_denied) return denied(result);
  const std::string why = reason_of(verdict);
  const Level level = std::max(result.level, verdict.level);
  if (level == Level::kCritical) {
    line = comment(why, proposal.command, dialect);
    if (is_marked(line)) return not_shown("cannot be shown");
  } else if (setup.config.boolean("shell.keep_sentence") && dialect != Dialect::kZsh &&
             line.find('\n') == std::string::npos) {
    std::string note = one_line(sentence);
    std::erase(note, '!');
    if (!is_marked(note)) line += cat("  # ", note);
  }
  print_text(line);
  note({"risk: ", printable(shell::name(level)), "  ",
        printable(why, 2000), "\n"});
  record(setup, {.sentence = sentence,
                 .command = proposal.command,
                 .outcome = "printed",
                 .level = level});
  return kExitOk;
}

}  // namespace wick
