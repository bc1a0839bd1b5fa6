// What a loaded model may take, as `wick plan` and -v show it.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "config/config.h"
#include "provider/local.h"

namespace wick {

std::uint64_t machine_memory_bytes();

// A row each: weights, cache, scratch, the draft model, all together, the limits.
void print_plan(std::ostream& out, const LocalModel& model, const Config& config);

}  // namespace wick
