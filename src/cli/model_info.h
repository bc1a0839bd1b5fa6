// The metadata of a model file, for `wick model info`.
#pragma once

#include "base/result.h"
#include "chat/json_value.h"
#include "format/model_file.h"

namespace wick {

// An object: name, architecture, sizes, number formats, tokenizer, features of its chat template.
Result<Object> describe(const ModelFile& file);

}  // namespace wick
