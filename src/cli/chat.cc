// wick chat: a conversation at the terminal, or one answer with -p or piped input. It talks to a
// Provider, never to the engine.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/conversation.h"
#include "cli/json_out.h"
#include "cli/options.h"
#include "cli/plan.h"
#include "cli/repl.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "provider/local.h"

namespace wick {

namespace {

struct Options {
  SettingFlags settings = {};
  std::string prompt = {}, system = {}, session_file = {};
  bool has_prompt = false, is_json = false, is_quiet = false, is_verbose = false;
};

Result<int> answer_once(Provider& provider, Conversation& conversation, std::string_view prompt,
                        const Options& o) {
  if (prompt.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "empty_prompt",
                 .message = "the prompt is empty",
                 .hint = "wick chat -p \"Why is the sky blue?\""};
  }
  conversation.say(prompt);
  const Interrupt interrupt;
  Answer answer;
  WICK_DO(provider.chat(conversation.request(), collect(answer, !o.is_json), interrupt.token()));
  conversation.answer(answer.text);
  if (o.is_json) {
    print_json(to_value(answer));
  } else {
    std::cout << "\n" << std::flush;
    if (!o.is_quiet && is_terminal(STDERR_FILENO)) std::cerr << dim(figures(answer.done)) << "\n";
  }
  return interrupt.was_hit() ? kExitInterrupted : kExitOk;
}

Result<int> run(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  const bool is_talk = !o.has_prompt && is_terminal(STDIN_FILENO);
  std::string prompt = o.prompt;
  if (!is_talk && !o.has_prompt) {
    WICK_TRY(prompt, read_piped_prompt());
  }
  WICK_TRY(GenerationSettings settings, generation_settings(config));
  WICK_TRY(const LocalOptions local, local_options(config));
  WICK_TRY(const auto path, find_model(config));
  WICK_TRY(const auto model, LocalModel::open(path, local));
  if (o.is_verbose) print_plan(std::cerr, *model, config);
  Conversation conversation(std::move(settings));
  std::error_code ignored;
  if (!o.session_file.empty() && std::filesystem::exists(o.session_file, ignored)) {
    WICK_TRY(const Array messages, model->load_session(o.session_file));
    WICK_DO(conversation.set_messages(messages, o.session_file));
  }
  if (!o.system.empty()) conversation.set_system(o.system);
  WICK_TRY(const int status,
           is_talk ? talk(*model, conversation) : answer_once(*model, conversation, prompt, o));
  if (!o.session_file.empty()) {
    WICK_DO(model->save_session(o.session_file, conversation.messages()));
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
  flags.toggle("-v,--verbose", o->is_verbose, "first what memory the model may take");
  flags.toggle("-q,--quiet", o->is_quiet, "no line of figures");
  flags.toggle("--json", o->is_json, "with -p or piped input: one JSON object instead of text");
  return [o, flags] {
    o->has_prompt = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
