// wick chat: a conversation at the terminal, or one answer with -p or piped input. It talks to a
// Provider, never to the engine.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/repl.h"
#include "cli/report.h"
#include "cli/session.h"
#include "provider/local.h"

namespace wick {

namespace {

constexpr std::size_t kMaxPrompt = 64U << 20;

struct Flags {
  ModelFlags model = {};
  RunFlags run = {};
  SamplingFlags sampling = {};
  std::string prompt = {}, system = {};
  bool has_prompt = false, is_json = false, is_quiet = false;
};

Result<int> answer_once(Provider& provider, Session& session, const Flags& flags) {
  const Interrupt interrupt;
  Answer answer;
  WICK_DO(provider.chat(session.request(), collect(answer, !flags.is_json), interrupt.token()));
  if (flags.is_json) {
    std::cout << to_json(answer) << "\n";
  } else {
    std::cout << "\n" << std::flush;
    if (!flags.is_quiet && is_terminal(STDERR_FILENO))
      std::cerr << dim(figures(answer.done)) << "\n";
  }
  return interrupt.was_hit() ? kExitInterrupted : kExitOk;
}

Result<int> run(const Flags& flags) {
  const bool is_talk = !flags.has_prompt && is_terminal(STDIN_FILENO);
  std::string prompt = flags.prompt;
  if (!is_talk && !flags.has_prompt) {
    WICK_TRY(prompt, read_stdin(kMaxPrompt));
  }
  WICK_TRY(const EngineOptions engine, flags.run.engine());
  WICK_TRY(const auto path, find_model(flags.model));
  WICK_TRY(const auto provider, open_local(path, {.threads = flags.run.threads, .engine = engine}));
  Session session(flags.sampling.settings);
  session.set_system(flags.system);
  if (is_talk) return talk(*provider, session);
  if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "empty_prompt",
                 .message = "the prompt is empty",
                 .hint = "wick chat -p \"Why is the sky blue?\""};
  }
  session.say(prompt);
  return answer_once(*provider, session, flags);
}

}  // namespace

Action setup_chat(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  flags->model.add(app, true);
  flags->run.add(app);
  flags->run.add_context(app);
  flags->sampling.add(app);
  auto* prompt = app.add_option("-p,--prompt", flags->prompt, "answer this and exit");
  app.add_option("-s,--system", flags->system, "the system message");
  app.add_flag("-q,--quiet", flags->is_quiet, "no line of figures");
  app.add_flag("--json", flags->is_json, "with -p or piped input: one JSON object instead of text");
  return [flags, prompt] {
    flags->has_prompt = prompt->count() > 0;
    return run(*flags);
  };
}

}  // namespace wick
