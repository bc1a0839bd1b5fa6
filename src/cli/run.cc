// wick run: raw completion. The text goes to the model as it is, and the answer to stdout as it is
// made.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report.h"
#include "provider/local.h"

namespace wick {

namespace {

constexpr std::size_t kMaxPrompt = 64U << 20;

struct Flags {
  ModelFlags model = {};
  RunFlags run = {};
  SamplingFlags sampling = {};
  std::string prompt = {};
  bool has_prompt = false, is_json = false, is_quiet = false;
};

Result<int> run(const Flags& flags) {
  std::string prompt = flags.prompt;
  if (!flags.has_prompt) {
    if (is_terminal(STDIN_FILENO)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "no_prompt",
                   .message = "there is no prompt",
                   .hint = "wick run -p \"Once upon a time\", or pipe a text in"};
    }
    WICK_TRY(prompt, read_stdin(kMaxPrompt));
  }
  WICK_TRY(const EngineOptions engine, flags.run.engine());
  WICK_TRY(const auto path, find_model(flags.model));
  WICK_TRY(const auto provider, open_local(path, {.threads = flags.run.threads, .engine = engine}));
  const Interrupt interrupt;
  Answer answer;
  WICK_DO(provider->complete({.prompt = prompt, .settings = flags.sampling.settings},
                             collect(answer, !flags.is_json), interrupt.token()));
  if (flags.is_json) {
    std::cout << to_json(answer) << "\n";
  } else {
    std::cout << "\n";
    if (!flags.is_quiet && is_terminal(STDERR_FILENO)) std::cerr << figures(answer.done) << "\n";
  }
  return interrupt.was_hit() ? kExitInterrupted : kExitOk;
}

}  // namespace

Action setup_run(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  flags->model.add(app, false);
  flags->run.add(app);
  flags->run.add_context(app);
  flags->sampling.add(app);
  auto* prompt = app.add_option("-p,--prompt", flags->prompt,
                                "the text to go on from; standard input if absent");
  app.add_flag("-q,--quiet", flags->is_quiet, "no line of figures");
  app.add_flag("--json", flags->is_json, "one JSON object instead of text");
  return [flags, prompt] {
    flags->has_prompt = prompt->count() > 0;
    return run(*flags);
  };
}

}  // namespace wick
