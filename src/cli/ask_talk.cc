// The prompt of wick ask at a terminal. Enter quits; what runs is the text that was judged and
// shown, from one buffer.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assist/history.h"
#include "assist/limits.h"
#include "assist/quote.h"
#include "assist/run_shell.h"
#include "assist/trash.h"
#include "base/strings.h"
#include "cli/ask.h"
#include "cli/clipboard.h"
#include "cli/line_editor.h"
#include "cli/out.h"
#include "cli/try_command.h"
#include "cli/verdict_text.h"

namespace wick {

namespace {

using assist::Confirmation;
using shell::Level;
using Kind = Confirmation::Kind;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The command as the model reads it: a secret that the user typed stays here.
std::string told_of(const AskSetup& setup, const std::string& command) {
  return setup.is_remote ? assist::masked(command) : command;
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

class CommandTalk {
 public:
  CommandTalk(const AskSetup& setup, assist::Conversation& conversation,
              const std::string& sentence)
      : setup_(setup), conversation_(conversation), sentence_(sentence), editor_({}) {}

  Result<int> run(std::vector<assist::Proposal> proposals) {
    if (proposals.front().command.empty()) {
      WICK_TRY(const bool has_command, answer_question(proposals.front().question));
      if (!has_command) return end_;
    } else {
      take(proposals.front().command);
    }
    if (proposals.size() > 1) {
      WICK_DO(choose(proposals));
    }
    const AskFlags& flags = setup_.flags;
    if (flags.edits && !is_over_) edit();
    if (flags.explains && !is_over_) {
      show();
      explain_by_model();
    }
    while (!is_over_) {
      if (setup_.config.boolean("safety.sandbox") && !is_tried_) WICK_DO(try_in_sandbox());
      if (flags.runs) {
        WICK_DO(ask_once());
      } else {
        WICK_DO(ask());
      }
    }
    return end_;
  }

 private:
  // The command that is judged, shown and run from now on.
  void take(std::string command) {
    command_ = std::move(command);
    verdict_ = setup_.judge(command_);
    rule_ = setup_.ruled(command_, verdict_);
    assist::ConfirmOptions options = setup_.confirm;
    options.is_yes = options.is_yes && !rule_.is_asked && verdict_.level < Level::kHigh;
    confirmation_ = assist::confirmation_of(rule_.level, verdict_, options);
    undo_ = assist::plan_undo(command_, setup_.machine.dialect, verdict_, setup_.machine.cwd);
    removed_ = assist::removed_by(command_, setup_.machine.dialect, verdict_, setup_.machine.cwd);
    is_shown_ = is_tried_ = false;
  }

  void show() {
    if (is_shown_) return;
    is_shown_ = true;
    print_text(command_ + "\n");
    print_risk(command_, verdict_, rule_.level, setup_.flags.explains);
    if (rule_.rule != nullptr && !rule_.rule->reason.empty())
      print({"rule: ", printable(rule_.rule->reason, 2000), "\n"});
    if (verdict_.level == Level::kSafe && !verdict_.error) return;
    if (!undo_.is_known) print({"no undo\n"});
    for (const std::string& command : undo_.commands)
      print({"undo: ", printable(command, assist::kMaxUndo), "\n"});
  }

  void finish(int status, const char* outcome) {
    is_over_ = true;
    end_ = status;
    record(setup_, {.sentence = sentence_,
                    .command = command_,
                    .outcome = outcome,
                    .level = rule_.level,
                    .code = status});
  }

  void quit() { finish(kExitDeclined, "declined"); }

  // False: nothing was typed that counts, and the talk is over.
  bool read(const std::string& prompt, std::string& line, const std::string& initial = "") {
    switch (editor_.read(prompt, line, initial)) {
      case LineEditor::End::kLine:
        return true;
      case LineEditor::End::kInterrupted:
        finish(kExitInterrupted, "declined");
        return false;
      case LineEditor::End::kEof:
        break;
    }
    quit();
    return false;
  }

  Result<void> refuse() {
    if (rule_.is_denied) {
      record(setup_, {.sentence = sentence_,
                      .command = command_,
                      .outcome = "refused",
                      .level = rule_.level,
                      .code = kExitRefused});
      return denied(rule_);
    }
    return {};
  }

  std::string menu() const {
    std::string out;
    switch (confirmation_.kind) {
      case Kind::kNone:
      case Kind::kKey:
        out = "[r]un ";
        break;
      case Kind::kWord:
      case Kind::kTarget:
        out = cat("type `", printable(confirmation_.text), "` to run, ");
        break;
      case Kind::kRefused:
        out = "not run: ";
        out += verdict_.level == Level::kCritical && !setup_.confirm.allows_critical
                   ? "critical needs --allow-critical; "
                   : "safety.level refuses it; ";
        break;
    }
    out += "[e]dit e[x]plain re[v]ise [c]opy ";
    if (removed_) out += "[t]rash instead ";
    return out + "[q]uit > ";
  }

  // The menu, once.
  Result<void> ask() {
    show();
    WICK_DO(refuse());
    if (confirmation_.kind == Kind::kNone) return run_it();
    std::string line;
    if (!read(menu(), line)) return {};
    line = trimmed(line);
    const bool is_typed = confirmation_.kind == Kind::kWord || confirmation_.kind == Kind::kTarget;
    if (is_typed && line == confirmation_.text) return run_it();
    const std::string key = line.substr(0, line.find(' '));
    const std::string rest = trimmed(line.substr(key.size()));
    const bool enter_runs = setup_.config.text("shell.confirm_default") == "y" &&
                            rule_.level == Level::kSafe && confirmation_.kind == Kind::kKey;
    if (key.empty() && !enter_runs) return quit(), Result<void>();
    if (key.empty() || key == "r" || key == "run" || key == "y" || key == "yes") {
      if (confirmation_.kind == Kind::kKey) return run_it();
      print({is_typed ? Shown("This needs the word.\n") : Shown("This does not run.\n")});
      return {};
    }
    return obey(key, rest);
  }

  Result<void> obey(const std::string& key, const std::string& rest) {
    if (key == "q" || key == "quit" || key == "n" || key == "no") {
      quit();
    } else if (key == "e" || key == "edit") {
      edit();
    } else if (key == "x" || key == "explain") {
      explain();
    } else if (key == "v" || key == "revise") {
      return revise(rest);
    } else if (key == "c" || key == "copy") {
      const auto copied = copy_to_clipboard(command_);
      if (!copied) report(copied.error(), false);
      if (copied) finish(kExitOk, "copied");
    } else if ((key == "t" || key == "trash") && removed_) {
      return trash();
    } else {
      print({"There is no ", printable(key), ".\n"});
    }
    return {};
  }

  // -x: one question, and the level decides what counts as yes.
  Result<void> ask_once() {
    show();
    WICK_DO(refuse());
    if (confirmation_.kind == Kind::kNone) return run_it();
    if (confirmation_.kind == Kind::kRefused) {
      finish(kExitRefused, "refused");
      return Error{.code = ErrorCode::kInvalid,
                   .id = "command_refused",
                   .message = cat("a ", shell::name(rule_.level), " command is not run"),
                   .hint = rule_.level == Level::kCritical ? "--allow-critical" : "safety.level"};
    }
    const bool is_key = confirmation_.kind == Kind::kKey;
    std::string line;
    if (!read(is_key ? "Run this command? [y/N] "
                     : cat("Run this command? Type `", printable(confirmation_.text), "`: "),
              line))
      return {};
    line = trimmed(line);
    const bool is_yes = is_key ? line == "y" || line == "yes" || line == "r" || line == "run"
                               : line == confirmation_.text;
    if (is_yes) return run_it();
    quit();
    return {};
  }

  Result<void> run_it() {
    const assist::ShellRun run{.shell = setup_.machine.shell,
                               .shell_path = setup_.machine.shell_path,
                               .dialect = setup_.machine.dialect,
                               .command = command_,
                               .terminal = STDIN_FILENO};
    if (run.shell_path.empty()) {
      return Error{.code = ErrorCode::kNotFound,
                   .id = "no_shell",
                   .message = cat("the shell '", printable(run.shell), "' is not there"),
                   .hint = "--shell names another"};
    }
    flush_output();
    WICK_TRY(const int status, assist::run_shell(run));
    is_over_ = true;
    end_ = status;
    const bool can_undo = status == 0 && undo_.is_known;
    record(setup_, {.sentence = sentence_,
                    .command = command_,
                    .outcome = "ran",
                    .level = rule_.level,
                    .code = status,
                    .undo = can_undo ? undo_.commands : std::vector<std::string>()});
    return {};
  }

  void edit() {
    std::string text = command_;
    const char* const visual = std::getenv("VISUAL");
    const bool is_simple = !has_control(command_);
    if ((setup_.flags.edits || !is_simple) && visual != nullptr && *visual != '\0') {
      const auto edited = edit_in_program(command_, setup_.max_command);
      if (!edited) return report(edited.error(), false);
      text = *edited;
    } else if (!is_simple) {
      print({"It has several lines: VISUAL may name an editor for them.\n"});
      return;
    } else if (!read("edit > ", text, command_)) {
      return;
    }
    text = trimmed(text);
    if (const auto fits = setup_.check_command(text); !fits) return report(fits.error(), false);
    if (!text.empty()) take(text);
    is_edited_ = true;
  }

  void explain() {
    print({printable(command_, setup_.max_command), "\n"});
    print_effects(command_, verdict_, true);
    if (verdict_.effects.empty()) print({"  output only\n"});
    if (setup_.flags.explains) explain_by_model();
  }

  void explain_by_model() {
    const auto done = wick::explain_by_model(setup_, conversation_, command_);
    if (!done) report(done.error(), false);
  }

  Result<void> revise(std::string sentence) {
    if (sentence.empty() && !read("change > ", sentence)) return {};
    sentence = trimmed(sentence);
    if (sentence.empty()) return {};
    if (const auto fits = setup_.check_sentence(sentence); !fits)
      return report(fits.error(), false), Result<void>();
    const std::string edited = is_edited_ ? told_of(setup_, command_) : "";
    const auto next =
        interruptible(conversation_, [&] { return conversation_.revise(sentence, edited); });
    if (!next && next.error().code == ErrorCode::kCancelled) return next.error();
    if (!next) return report(next.error(), false), Result<void>();
    is_edited_ = false;
    if (!next->command.empty()) return take(next->command), Result<void>();
    WICK_DO(answer_question(next->question));
    return {};
  }

  // Until there is a command; false if the user gives no answer.
  Result<bool> answer_question(std::string question) {
    while (true) {
      std::string line;
      print({"needs an answer: ", printable(question, 2000), "\n"});
      if (!read("> ", line)) return false;
      line = trimmed(line);
      if (line.empty()) return quit(), false;
      WICK_DO(setup_.check_sentence(line));
      WICK_TRY(const assist::Proposal next,
               interruptible(conversation_, [&] { return conversation_.revise(line); }));
      if (!next.command.empty()) return take(next.command), true;
      question = next.question;
    }
  }

  Result<void> choose(const std::vector<assist::Proposal>& proposals) {
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      const std::string& command = proposals[i].command;
      const Level level = setup_.ruled(command, setup_.judge(command)).level;
      print({i + 1, "  ", padded(printable(shell::name(level)), 9), " ",
             printable(command, setup_.max_command), "\n"});
    }
    std::string line;
    if (!read("which one > ", line)) return {};
    const long number = std::strtol(line.c_str(), nullptr, 10);
    if (number < 1 || number > static_cast<long>(proposals.size())) return quit(), Result<void>();
    take(proposals[static_cast<std::size_t>(number - 1)].command);
    return {};
  }

  Result<void> trash() {
    AskRecord one{
        .sentence = sentence_, .command = command_, .outcome = "trashed", .level = rule_.level};
    for (const std::string& name : *removed_) {
      const auto moved = assist::move_to_trash(name);
      if (!moved) {
        report(moved.error(), false);
        one.code = kExitFailure;
        continue;
      }
      one.undo.push_back(cat("wick trash --restore ",
                             assist::quote_word(moved->original.string(), setup_.machine.dialect)));
      print({"in the trash: ", printable(moved->original.string(), 4096), "\n"});
      if (assist::is_kept_whole(one.undo.back()))
        print({"undo: ", printable(one.undo.back(), assist::kMaxUndo), "\n"});
      else
        print({"no undo in the history; to restore: wick trash --list\n"});
    }
    record(setup_, one);
    is_over_ = true;
    end_ = one.code;
    return {};
  }

  // Each command before it is asked about: one that was edited or revised, too.
  Result<void> try_in_sandbox() {
    show();
    WICK_DO(refuse());
    is_tried_ = true;
    return try_command(setup_, command_, verdict_);
  }

  const AskSetup& setup_;
  assist::Conversation& conversation_;
  const std::string& sentence_;
  LineEditor editor_;
  std::string command_ = {};
  shell::Verdict verdict_ = {};
  assist::RuleResult rule_ = {};
  Confirmation confirmation_ = {};
  assist::UndoPlan undo_ = {};
  std::optional<std::vector<std::string>> removed_ = {};
  bool is_shown_ = false, is_tried_ = false, is_edited_ = false, is_over_ = false;
  int end_ = kExitDeclined;
};

}  // namespace

Result<void> explain_by_model(const AskSetup& setup, assist::Conversation& conversation,
                              const std::string& command) {
  WICK_TRY(const std::string words, interruptible(conversation, [&] {
             return conversation.explain(told_of(setup, command));
           }));
  print({"the model says, which proves nothing: "});
  print_answer(trimmed(words));
  print({"\n"});
  return {};
}

Result<int> talk_about(const AskSetup& setup, assist::Conversation& conversation,
                       const std::string& sentence, std::vector<assist::Proposal> proposals) {
  return CommandTalk(setup, conversation, sentence).run(std::move(proposals));
}

}  // namespace wick
