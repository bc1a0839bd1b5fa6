// Fields of config.json that differ between layers, as GGUF keys. Load time only. Internal to this
// module.
#pragma once

#include <string_view>

#include "format/json_fields.h"
#include "format/metadata.h"

namespace wick {

// Heads of layers that see everything, layers that share keys and values, and what goes with them;
// nothing for a config without these fields. The pattern of windows must be in `out`.
Result<void> translate_layers(const JsonFields& config, std::string_view arch, Metadata& out);

}  // namespace wick
