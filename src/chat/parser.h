// Template text to an Ast: jinja2's grammar with the extensions of transformers (loop controls,
// generation blocks). Tags that need other templates (include, import, extends, block) and
// autoescape are errors. Any thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "chat/ast.h"

namespace wick::jinja {

// Names are resolved, too: the result is ready to run.
Result<std::unique_ptr<Ast>> parse(std::string_view jinja);

}  // namespace wick::jinja
