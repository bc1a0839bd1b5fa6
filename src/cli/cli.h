// The program: one table of commands, each in its own file. A command registers its flags on a
// CLI11 subcommand and returns the action to run after parsing. stdout carries the result, stderr
// everything else; exit codes are an API (README, "Exit codes").
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

class Flags;

enum ExitCode : int {
  kExitOk = 0,
  kExitDeclined = 1,
  kExitUsage = 2,  // usage, configuration, a value out of range
  kExitDevice = 3,
  kExitFailure = 4,    // model, generation, provider, network
  kExitIntegrity = 5,  // bytes that do not have the hash they should have
  kExitRefused = 13,   // by a rule: budget, unknown price, privacy, a command's level
  kExitInterrupted = 130,
};

int exit_code(const Error& error) noexcept;

// The action of a command: returns an exit status, or an error that main reports.
using Action = std::function<Result<int>()>;

struct Command {
  std::string_view name, help;
  Action (*setup)(Flags flags);  // registers the flags; what they are bound to lives in the action
};

std::span<const Command> commands() noexcept;

// One function for each command, defined in the file of its name.
Action setup_chat(Flags flags);
Action setup_run(Flags flags);
Action setup_model(Flags flags);
Action setup_tokenize(Flags flags);
Action setup_template(Flags flags);
Action setup_embed(Flags flags);
Action setup_logits(Flags flags);
Action setup_bench(Flags flags);
Action setup_config(Flags flags);
Action setup_estimate(Flags flags);
Action setup_doctor(Flags flags);
Action setup_ask(Flags flags);
Action setup_init(Flags flags);
Action setup_history(Flags flags);
Action setup_trash(Flags flags);
Action setup_check(Flags flags);
Action setup_explain(Flags flags);
Action setup_grammar(Flags flags);
Action setup_serve(Flags flags);
Action setup_key(Flags flags);
Action setup_route(Flags flags);
Action setup_usage(Flags flags);
Action setup_ps(Flags flags);    // loaded.cc
Action setup_stop(Flags flags);  // loaded.cc

// The whole program.
int run_program(int argc, const char* const* argv);

}  // namespace wick
