// wick chat: a conversation at the terminal, or one answer with -p or piped input. It talks to a
// Provider, never to the engine.
#include <unistd.h>

#include <memory>

#include "base/strings.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/conversation.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/plan.h"
#include "cli/repl.h"
#include "cli/settings.h"
#include "hub/atomic_file.h"
#include "local/local.h"

namespace wick {

namespace {

struct Options {
  SettingFlags settings = {};
  std::string prompt = {}, system = {}, session_file = {};
  std::vector<std::string> variables = {};
  bool thinks = false, thinks_not = false;
  bool has_prompt = false, is_json = false, is_quiet = false, is_verbose = false;
};

Result<int> answer_once(Provider& provider, Conversation& conversation,
                        const Generation& generation, std::string_view prompt, const Options& o) {
  if (prompt.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "empty_prompt",
                 .message = "the prompt is empty",
                 .hint = "wick chat -p \"Why is the sky blue?\""};
  }
  conversation.say(prompt);
  WICK_TRY(
      const Gather whole,
      ask(provider, {.prompt = conversation.messages(), .generation = generation}, !o.is_json));
  if (!whole.error) conversation.answer(whole.completion);
  return end_answer(whole, {.is_json = o.is_json, .is_quiet = o.is_quiet});
}

// "KEY=JSON", as `wick template` takes it.
Result<void> add_variables(const Options& o, Generation& generation) {
  for (const std::string& variable : o.variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_variable",
                   .message = cat("--set '", printable(variable), "' is not KEY=JSON"),
                   .hint = "a text needs its quotes: --set 'date=\"1 May 2026\"'"};
    }
    generation.template_variables.emplace_back(variable.substr(0, equals),
                                               variable.substr(equals + 1));
  }
  if (o.thinks || o.thinks_not) generation.thinking = o.thinks;
  return {};
}

Result<int> run(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  const bool is_talk = !o.has_prompt && is_terminal(STDIN_FILENO);
  std::string prompt = o.prompt;
  if (!is_talk && !o.has_prompt) {
    WICK_TRY(prompt, read_piped_prompt());
  }
  WICK_TRY(Generation generation, generation_settings(config));
  WICK_DO(add_variables(o, generation));
  WICK_TRY(const OpenModel model, open_model(config));
  if (o.is_verbose && model.local != nullptr) print_plan(note, *model.local, config);
  const std::vector<FileId> files =
      model.local != nullptr ? model.local->files() : std::vector<FileId>();
  Conversation conversation;
  // Noticed before the answer is computed, not behind it.
  if (!o.session_file.empty()) WICK_DO(AtomicFile::check(o.session_file, files));
  std::error_code ignored;
  if (!o.session_file.empty() && std::filesystem::exists(o.session_file, ignored)) {
    WICK_TRY(std::vector<Message> messages, model.provider->load_session(o.session_file));
    conversation.set_messages(std::move(messages));
  }
  if (!o.system.empty()) conversation.set_system(o.system);
  WICK_TRY(const int status,
           is_talk ? talk(*model.provider, conversation, std::move(generation), files)
                   : answer_once(*model.provider, conversation, generation, prompt, o));
  const bool is_answered = status == kExitOk || status == kExitInterrupted;
  if (!o.session_file.empty() && is_answered) {
    WICK_DO(model.provider->save_session(o.session_file, conversation.messages()));
  }
  return status;
}

}  // namespace

Action setup_chat(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->settings.add_model(flags, true);
  o->settings.add_run(flags);
  o->settings.add_generation(flags);
  flags.text("-p,--prompt", o->prompt, "answer this and exit");
  flags.text("-s,--system", o->system, "the system message");
  flags.text(
      "--session-file", o->session_file,
      "go on from this file if it is there, and write conversation and cache to it at the end");
  flags.texts("--set", o->variables, "KEY=JSON, a variable of the chat template; may be repeated");
  flags.toggle("--think", o->thinks, "let a model that can think before it answers do so");
  flags.toggle("--no-think", o->thinks_not, "let it not (the template's enable_thinking)");
  flags.exclude("--think", "--no-think");
  flags.toggle("-v,--verbose", o->is_verbose, "first what memory the model may take");
  flags.toggle("-q,--quiet", o->is_quiet, "no line of figures");
  flags.toggle("--json", o->is_json, "with -p or piped input: one JSON object instead of text");
  flags.remark(kAnswersGo);
  return [o, flags] {
    o->has_prompt = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
