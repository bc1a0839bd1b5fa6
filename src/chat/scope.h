// Gives each name of a template the slot it lives in, by the rules of jinja2's compiler: which
// scope a set writes, what a macro sees, what an if leaks are decided here, before anything runs.
// Also finds the filters and tests by name. Any thread.
#pragma once

#include "base/result.h"
#include "chat/ast.h"

namespace wick::jinja {

// Fills ref, slot, scope and builtin fields and ast.variables. Fails where jinja2's compiler does:
// a filter or test that does not exist (outside of an if, where it only fails when it runs), an
// assignment to a loop's own `loop`.
Result<void> resolve_names(Ast& ast);

}  // namespace wick::jinja
