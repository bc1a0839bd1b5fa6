// The size of a tensor: the only place in this module that multiplies dimensions. Every loader CVE
// of this kind of software (docs/formats/gguf.md) was a second place.
#pragma once

#include <cstdint>
#include <optional>

#include "format/model_file.h"
#include "quant/dtype.h"

namespace wick {

// Bytes of a tensor of `type` and `shape`. Rank 0 is one element. nullopt if a dimension is not
// positive, a row is not a whole number of blocks, or the size does not fit into int64.
std::optional<std::uint64_t> checked_tensor_bytes(DType type, const Shape& shape) noexcept;

}  // namespace wick
