#include "cli/ask.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "assist/limits.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/verdict_text.h"
#include "provider/messages.h"

namespace wick {

namespace {

constexpr std::size_t kMaxPiped = std::size_t{16} << 20;

Error bad_words(std::string message) {
  return {.code = ErrorCode::kInvalid,
          .id = "usage",
          .message = std::move(message),
          .hint = "wick ask --help"};
}

Result<void> check_flags(const AskFlags& f) {
  if (!f.output.empty() && f.output != "plain" && f.output != "json")
    return bad_words(cat("--output is '", printable(f.output), "', allowed are plain and json"));
  if (f.is_batch && !f.words.empty())
    return bad_words("--batch reads sentences from standard input, one a line");
  if (f.is_batch && !f.input_file.empty()) return bad_words("--batch has no context: no --input");
  if (f.is_widget && (f.is_json || f.is_batch)) return bad_words("--widget prints one line");
  if (f.runs && (f.prints || f.is_dry)) return bad_words("-x runs, --print and --dry-run do not");
  return {};
}

std::string sentence_of(const AskFlags& f) {
  std::string sentence;
  for (const std::string& word : f.words)
    sentence += cat(sentence.empty() ? "" : " ", word);
  return sentence;
}

// Beside a sentence, what is piped in is context. Where the settings keep it out of the prompt, a
// file that was named is an error, and standard input a warning.
Result<std::string> read_input(const AskSetup& setup) {
  const AskFlags& f = setup.flags;
  const bool is_sent = setup.facts.has_input;
  if (!f.input_file.empty() && !is_sent) {
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "input_not_sent",
        .message =
            cat("--input is not sent to this model: ", setup.facts_key, " does not list input"),
        .hint = setup.is_remote ? "--remote-facts input sends it" : "--facts input sends it"};
  }
  if (!f.input_file.empty()) return read_text(f.input_file, kMaxPiped);
  if (is_terminal(STDIN_FILENO) || f.is_widget || f.shows_prompt) return std::string();
  WICK_TRY(std::string input, read_text("-", kMaxPiped));
  if (!input.empty() && !is_sent) {
    note({"warning: standard input is not sent to this model: ", printable(setup.facts_key),
          " does not list input\n"});
  }
  return input;
}

// As the provider gets it. --json: exactly the messages of the request.
int show_prompt(const AskFlags& f, const std::vector<Message>& messages) {
  if (f.is_json) {
    print_json(JsonValue(to_array(messages)));
    return kExitOk;
  }
  for (const Message& message : messages) {
    print({"[", printable(message.role), "]\n"});
    print_text(message.content.text() + "\n");
  }
  return kExitOk;
}

// Without a terminal: the command alone on standard output, the rest on standard error.
Result<int> print_proposals(const AskSetup& setup, assist::Conversation& talk,
                            const std::string& sentence,
                            const std::vector<assist::Proposal>& proposals) {
  const assist::Proposal& first = proposals.front();
  for (const assist::Proposal& one : proposals) {  // before any of them is printed
    const assist::RuleResult result = setup.ruled(one.command, setup.judge(one.command));
    if (result.is_denied) return denied(result);
  }
  if (setup.flags.is_json) {
    Object out = to_object(setup, sentence, first);
    if (proposals.size() > 1) {
      Array others;
      for (std::size_t i = 1; i < proposals.size(); ++i)
        others.emplace_back(to_object(setup, sentence, proposals[i]));
      out["alternatives"] = std::move(others);
    }
    print_json(out);
  }
  if (first.command.empty()) {
    if (!setup.flags.is_json) note({"needs an answer: ", printable(first.question, 2000), "\n"});
    return kExitDeclined;
  }
  const assist::RuleResult judged = setup.ruled(first.command, setup.judge(first.command));
  for (const assist::Proposal& one : proposals) {
    if (setup.flags.is_json) break;
    const shell::Verdict verdict = setup.judge(one.command);
    const assist::RuleResult result = setup.ruled(one.command, verdict);
    print_text(one.command + "\n");
    note({"risk: ", printable(shell::name(result.level)), "  ", printable(reason_of(verdict), 2000),
          "\n"});
    if (setup.flags.is_dry) print_effects(one.command, verdict, true);
  }
  const AskFlags& f = setup.flags;
  if (f.is_dry && f.explains && !f.is_json) WICK_DO(explain_by_model(setup, talk, first.command));
  record(setup, {.sentence = sentence,
                 .command = first.command,
                 .outcome = "printed",
                 .level = judged.level});
  return kExitOk;
}

// On a terminal: the model that answered, its device, and the times.
void note_times(const OpenModel& model, const std::vector<assist::Proposal>& proposals) {
  constexpr int kErr = STDERR_FILENO;
  if (!is_terminal(kErr)) return;
  double ms = 0;
  for (const assist::Proposal& one : proposals)
    ms += one.ms;
  note({color(kErr, Color::kDim), printable(model.shown, 200)});
  if (model.load_s > 0) note({", loaded in ", fixed(model.load_s, 2), " s"});
  note({", answered in ", fixed(ms * 1e-3, 2), " s", color(kErr, Color::kNone), "\n"});
}

// A talk whose terminal is lost ends as if it was declined; a command that runs gets the signal.
void decline_on_hangup() {
  const auto before = std::signal(SIGHUP, [](int) { ::_exit(kExitDeclined); });
  if (before == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

Result<int> run_ask(const AskFlags& f) {
  WICK_DO(check_flags(f));
  WICK_TRY(const auto setup, set_up_ask(f));
  if (f.is_batch) return ask_batch(*setup);
  const std::string sentence = sentence_of(f);
  WICK_DO(setup->check_sentence(sentence));
  WICK_TRY(const std::string input, read_input(*setup));
  std::vector<Message> prompt = assist::make_prompt(
      setup->machine, {.sentence = sentence, .input = input}, setup->facts, setup->frame);
  if (f.shows_prompt) return show_prompt(f, prompt);
  WICK_TRY(const OpenModel model, open_ask_model(*setup, 1));
  assist::Conversation talk(*model.provider, setup->propose_settings(), std::move(prompt));
  const bool is_talk = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && !f.is_json &&
                       !f.prints && !f.is_widget && !f.is_dry;
  if (is_talk) decline_on_hangup();
  std::vector<assist::Proposal> proposals;
  WICK_TRY(assist::Proposal first, interruptible(talk, [&] { return talk.propose(); }));
  proposals.push_back(std::move(first));
  if (f.alternatives > 0 && !proposals.front().command.empty()) {
    WICK_TRY(std::vector<assist::Proposal> others, interruptible(talk, [&] {
               return talk.alternatives(proposals.front(), f.alternatives);
             }));
    for (assist::Proposal& other : others)
      proposals.push_back(std::move(other));
  }
  if (!f.is_quiet && !f.is_json && !f.is_widget) note_times(model, proposals);
  if (f.is_widget && !proposals.front().command.empty())
    return answer_widget(*setup, sentence, proposals.front());
  if (is_talk) return talk_about(*setup, talk, sentence, std::move(proposals));
  return print_proposals(*setup, talk, sentence, proposals);
}

}  // namespace

Action setup_ask(Flags flags) {
  const auto o = std::make_shared<AskFlags>();
  flags.texts("SENTENCE", o->words, "the task, in plain words");
  flags.toggle("-x,--run", o->runs, "run the command after one confirmation, without the menu");
  flags.toggle("--print", o->prints, "print the command and do nothing else");
  flags.toggle("-y,--yes", o->is_yes, "run safe and moderate commands without confirmation");
  flags.toggle("--allow-critical", o->allows_critical,
               "allow critical commands, after the user has typed the target");
  flags.toggle("-e,--explain", o->explains,
               "print wick's and the model's explanation of the command");
  flags.toggle("-i,--edit", o->edits, "edit the command before it runs");
  flags.toggle("--dry-run", o->is_dry, "list the effects; nothing runs");
  flags.integer("--alternatives", o->alternatives, {0, assist::kMaxAlternatives},
                "number of alternative commands");
  flags.text("--input", o->input_file,
             "file with context for the model; - = standard input (default where that is no "
             "terminal)");
  flags.toggle("--batch", o->is_batch, "read sentences from standard input, one per line");
  flags.toggle("--json", o->is_json, "print JSON; nothing runs");
  flags.text("--output", o->output, "plain = --print, json = --json");
  flags.toggle("--show-prompt", o->shows_prompt, "print the prompt; nothing runs");
  flags.toggle("-q,--quiet", o->is_quiet, "do not print the line of times");
  flags.toggle("--widget", o->is_widget,
               "for the scripts of wick init: print a line for the shell");
  o->settings.add(flags, {"local.model_path", "hub.offline"});
  o->settings.add_tables(flags, {"safety.", "shell.", "local.", "cache.", "optimize."});
  return [o] {
    o->prints = o->prints || o->output == "plain";
    o->is_json = o->is_json || o->output == "json";
    return run_ask(*o);
  };
}

}  // namespace wick
