// The metadata of a model file, for `wick model info`.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "chat/json_value.h"
#include "format/model_file.h"

namespace wick {

// An object: name, license, architecture, sizes of its parts, number formats, tokenizer, features
// of its chat template; for each KV cache type its bytes and the context that memory_bytes hold.
Result<Object> describe(const ModelFile& file, std::uint64_t memory_bytes);

}  // namespace wick
