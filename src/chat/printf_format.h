// The three ways a template formats text: '%s' % value, '{}'.format(value), and the number formats
// that both share.
#pragma once

#include "chat/builtin.h"
#include "chat/run.h"

namespace wick::jinja {

// format % values.
Value percent_format(Run& run, const Text& format, const Value& values);

// format.format(*positional, **named).
Value brace_format(Run& run, const Text& format, const Arguments& args);

}  // namespace wick::jinja
