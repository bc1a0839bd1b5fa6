// Rotary positions from config.json: rope_theta with rope_scaling (transformers 4) or
// rope_parameters (5, also nested by layer type), as GGUF's keys. Internal to this module.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "format/json_fields.h"
#include "format/metadata.h"

namespace wick {

// Writes `arch`.rope.*. `head_dim`: features of a head, where known. Which keys each kind of
// scaling gives is in docs/formats/safetensors.md.
Result<void> translate_rope(const JsonFields& config, std::string_view arch,
                            std::optional<std::int64_t> head_dim, Metadata& out);

}  // namespace wick
