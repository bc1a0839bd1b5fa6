// The program: one table of commands, each in its own file. A command registers its flags on a
// CLI11 sub-command and hands back what to run once they are parsed. stdout carries the result,
// stderr everything else; exit codes are an API (README, "Exit codes").
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
}

namespace wick {

enum ExitCode : int {
  kExitOk = 0,
  kExitDeclined = 1,
  kExitUsage = 2,  // usage, configuration, a value out of range
  kExitDevice = 3,
  kExitFailure = 4,    // model, generation, provider, network
  kExitIntegrity = 5,  // bytes that do not have the hash they should have
  kExitInterrupted = 130,
};

int exit_code(const Error& error) noexcept;

// What a command does: an exit status of its own, or an error that main reports.
using Action = std::function<Result<int>()>;

struct Command {
  std::string_view name, help;
  Action (*setup)(CLI::App& app);  // `app` lives until the action has run
};

std::span<const Command> commands() noexcept;

// The whole program.
int run_program(int argc, const char* const* argv);

}  // namespace wick
