// Names of the tensor types that GGUF files may carry and wick does not read. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

// "m.gguf: tensor 'x' is of type IQ2_XXS, which wick does not read", for a type number that
// dtype_from_gguf does not know. `path` is printable.
Error unsupported_type(const std::string& path, std::string_view tensor, std::uint32_t gguf_type);

}  // namespace wick
