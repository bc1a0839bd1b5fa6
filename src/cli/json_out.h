// JSON on standard output, one object a line.
#pragma once

#include "chat/value.h"

namespace wick {

// Bytes that are not UTF-8 come out as U+FFFD: a line is always JSON. Characters that a terminal
// would obey or not show come out as \u escapes.
void print_json(const Value& value);

}  // namespace wick
