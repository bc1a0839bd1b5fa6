// The flags of structured output: --schema, --grammar, --regex and --choice.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/flags.h"
#include "wick/generation.h"

namespace wick {

struct FormatOptions {
  std::optional<std::string> schema = {}, grammar = {}, regex = {}, choice = {};
};

void add_format_flags(Flags& flags, FormatOptions& options);
Result<ResponseFormat> response_format(const FormatOptions& options);

}  // namespace wick
