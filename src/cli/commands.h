// One function for each command, defined in the file of its name.
#pragma once

#include "cli/cli.h"

namespace wick {

Action setup_chat(CLI::App& app);
Action setup_run(CLI::App& app);
Action setup_model(CLI::App& app);
Action setup_tokenize(CLI::App& app);
Action setup_logits(CLI::App& app);
Action setup_bench(CLI::App& app);
Action setup_doctor(CLI::App& app);

}  // namespace wick
