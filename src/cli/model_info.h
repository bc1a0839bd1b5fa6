// What a model file says about itself, as `wick model info` shows it.
#pragma once

#include "base/result.h"
#include "chat/json_value.h"
#include "format/model_file.h"

namespace wick {

// An object: name, architecture, sizes, number formats, tokenizer, what its chat template can do.
Result<Object> describe(const ModelFile& file);

}  // namespace wick
