// One function for each command, defined in the file of its name.
#pragma once

#include "cli/flags.h"

namespace wick {

Action setup_chat(Flags flags);
Action setup_run(Flags flags);
Action setup_model(Flags flags);
Action setup_tokenize(Flags flags);
Action setup_template(Flags flags);
Action setup_logits(Flags flags);
Action setup_bench(Flags flags);
Action setup_config(Flags flags);
Action setup_plan(Flags flags);
Action setup_doctor(Flags flags);
Action setup_check(Flags flags);
Action setup_explain(Flags flags);

}  // namespace wick
