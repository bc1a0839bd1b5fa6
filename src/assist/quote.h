// Words as a shell reads them back. Pure.
#pragma once

#include <string>
#include <string_view>

#include "shell/syntax.h"

namespace wick::assist {

// `word` as one word of the dialect's shell; quoted only if it has to be.
std::string quote_word(std::string_view word, shell::Dialect dialect);

}  // namespace wick::assist
