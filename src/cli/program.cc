#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <exception>
#include <iostream>

#include "base/strings.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report.h"

namespace wick {

std::span<const Command> commands() noexcept {
  static constexpr std::array kCommands = {
      Command{"chat", "talk with a model", setup_chat},
      Command{"run", "complete a text", setup_run},
      Command{"model", "list, pull, inspect, verify and remove models", setup_model},
      Command{"tokenize", "text to token ids", setup_tokenize},
      Command{"template", "what a chat template makes of a conversation", setup_template},
      Command{"logits", "write the logits of given tokens as .npy", setup_logits},
      Command{"plan", "what memory a model may take, before it takes it", setup_plan},
      Command{"bench", "measure tokens per second", setup_bench},
      Command{"config", "what every switch is set to, and by whom", setup_config},
      Command{"doctor", "what this machine offers and what wick makes of it", setup_doctor},
  };
  return kCommands;
}

namespace {

bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
    if (std::string_view(argv[i]) == "--") return false;
  }
  return false;
}

Result<int> dispatch(int argc, const char* const* argv) {
  CLI::App app("Run language models on your own machine.", "wick");
  app.require_subcommand(1);
  app.set_version_flag("--version", "wick " WICK_VERSION);
  app.footer("Start with: wick chat");
  Action action;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    const Action run = command.setup(Flags(*sub));
    sub->final_callback([&action, run] { action = run; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success, std::cout, std::cerr);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string where = chosen.empty() ? "wick" : cat("wick ", chosen.front()->get_name());
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = error.what(),
                 .hint = where + " --help"};
  }
  return action();
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const bool as_json = wants_json(argc, argv);
  try {  // the door for what libraries and bad_alloc throw
    const Result<int> status = dispatch(argc, argv);
    std::cout.flush();
    if (status) return *status;
    report(status.error(), as_json);
    return exit_code(status.error());
  } catch (const std::exception& error) {
    report({.code = ErrorCode::kNoMemory, .id = "internal", .message = error.what()}, as_json);
    return kExitFailure;
  }
}

}  // namespace wick
