// wick grammar explain: the parts of a schema, regex or grammar and what they are compiled to.
#pragma once

#include "base/result.h"
#include "grammar/schema/sources.h"
#include "wick/generation.h"

namespace wick {

// Prints what is known; the error is that of compiling.
Result<void> explain(const ResponseFormat& format, const grammar::FetchDocument& fetch);

}  // namespace wick
