// wick ask: a sentence to a shell command. Its parts: what it was called with and finds here
// (ask_setup.cc), the prompt at a terminal (ask_talk.cc), the shell widget (ask_widget.cc), many
// sentences (ask_batch.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assist/confirm.h"
#include "assist/machine.h"
#include "assist/prompt.h"
#include "assist/propose.h"
#include "assist/rules.h"
#include "assist/undo.h"
#include "base/result.h"
#include "chat/json_value.h"
#include "cli/answer.h"
#include "cli/option_flags.h"
#include "cli/options.h"

namespace wick {

struct AskFlags {
  OptionFlags settings = {};
  std::vector<std::string> words = {};
  std::string input_file = {}, output = {};
  int alternatives = 0;  // besides the first
  bool runs = false, prints = false, explains = false, is_dry = false, edits = false;
  bool is_yes = false, allows_critical = false;
  bool is_json = false, is_batch = false, is_widget = false, shows_prompt = false, is_quiet = false;
};

// The flags, settings, rules and machine of one call.
struct AskSetup {
  explicit AskSetup(const AskFlags& its_flags) : flags(its_flags) {}

  const AskFlags& flags;
  Config config = {};
  assist::Machine machine = {};
  std::vector<assist::Rule> rules = {};
  assist::ConfirmOptions confirm = {};
  assist::Facts facts = {};
  std::string_view facts_key = {};  // the setting that they are of
  assist::Frame frame = assist::Frame::kJson;
  std::size_t max_command = 0;
  std::string socket = {};  // of a running `wick serve`, that answers
  bool is_remote = false;

  assist::ProposeSettings propose_settings() const;
  // A limit of safety.max_command_length or of a sentence: kInvalid.
  Result<void> check_sentence(const std::string& sentence) const;
  Result<void> check_command(const std::string& command) const;
  // The verdict about the bytes; of an unknown shell it is at least high.
  shell::Verdict judge(const std::string& command, shell::Mode mode = shell::Mode::kScript) const;
  assist::RuleResult ruled(const std::string& command, const shell::Verdict& verdict) const;
};

Result<std::unique_ptr<AskSetup>> set_up_ask(const AskFlags& flags);
// The model that answers: a local one of the socket, else as every command opens it.
Result<OpenModel> open_ask_model(const AskSetup& setup, int n_sequences);

// How it went, for the history.
struct AskRecord {
  std::string sentence = {}, command = {}, outcome = {};
  shell::Level level = shell::Level::kSafe;  // as it was shown: the verdict's, or as a rule has it
  int code = 0;
  std::vector<std::string> undo = {};
};

// Does nothing where shell.history is false; a failure is a warning.
void record(const AskSetup& setup, const AskRecord& one);

// The error of a command that a deny rule matches: exit status 13.
Error denied(const assist::RuleResult& result);

// {"ask","cmd","level","effects",…} of a proposal; {"ask","question"} of a question.
Object to_object(const AskSetup& setup, const std::string& sentence,
                 const assist::Proposal& proposal);

// Why the verdict has its level: the worst effect.
std::string reason_of(const shell::Verdict& verdict);

// "risk: moderate  deletes …", and the effects of what is high.
void print_risk(const std::string& command, const shell::Verdict& verdict, shell::Level level,
                bool is_long);

// At a terminal: shows the proposal, asks, acts. Returns the exit status.
Result<int> talk_about(const AskSetup& setup, assist::Conversation& conversation,
                       const std::string& sentence, std::vector<assist::Proposal> proposals);
// Prints the model's words about the command.
Result<void> explain_by_model(const AskSetup& setup, assist::Conversation& conversation,
                              const std::string& command);
// Text for the line buffer of the user's shell; `proposal` has a command.
Result<int> answer_widget(const AskSetup& setup, const std::string& sentence,
                          const assist::Proposal& proposal);
// Sentences of standard input, one a line.
Result<int> ask_batch(const AskSetup& setup);

// One turn of a conversation that Ctrl-C ends.
template <class Turn>
auto interruptible(assist::Conversation& conversation, Turn turn) -> decltype(turn()) {
  WICK_TRY(const auto interrupt, Interrupt::begin());
  conversation.set_cancel(interrupt->token());
  const Working working(printable(""));
  return turn();
}

}  // namespace wick
