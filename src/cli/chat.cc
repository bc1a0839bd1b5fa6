// wick chat: a conversation at the terminal, or one answer with -p or piped input. It talks to a
// Provider, never to the engine.
#include <unistd.h>

#include <memory>

#include "cli/answer.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/repl.h"
#include "hub/atomic_file.h"
#include "local/local.h"

namespace wick {

namespace {

struct Options : AskOptions {
  std::string system = {}, session_file = {};
  std::vector<std::string> variables = {};
  bool thinks = false, thinks_not = false;
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
  return end_answer(whole, o);
}

Result<int> run(const Options& o) {
  WICK_TRY(auto variables, parse_variables(o.variables));
  WICK_TRY(Asking asking, prepare(o));
  auto& [model, prompt, generation] = asking;
  generation.template_variables = std::move(variables);
  if (o.thinks || o.thinks_not) generation.thinking = o.thinks;
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
           !o.has_prompt && is_terminal(STDIN_FILENO)
               ? talk(*model.provider, conversation, std::move(generation), files)
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
  flags.text("-p,--prompt", o->prompt, "answer this and exit");
  flags.text("-s,--system", o->system, "the system message");
  flags.text(
      "--session-file", o->session_file,
      "go on from this file if it is there, and write conversation and cache to it at the end");
  flags.texts("--set", o->variables, "KEY=JSON, a variable of the chat template; may be repeated");
  flags.toggle("--think", o->thinks, "let a model that can think before it answers do so");
  flags.toggle("--no-think", o->thinks_not, "let it not (the template's enable_thinking)");
  flags.exclude("--think", "--no-think");
  add_ask_flags(flags, *o);
  return [o, flags] {
    o->has_prompt = flags.is_given("--prompt");
    return run(*o);
  };
}

}  // namespace wick
