// The memory estimate of a loaded model, for `wick estimate` and -v.
#pragma once

#include "cli/out.h"
#include "config/config.h"
#include "local/local.h"

namespace wick {

// With print or note, a row each: weights, cache, scratch, the draft model, all together, the
// limits.
void print_memory_estimate(PrintFunction out, const LocalModel& model, const Config& config);

}  // namespace wick
