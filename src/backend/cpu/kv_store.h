// Writes one head's key or value of one position into its cache block (layouts: docs/numerics.md,
// "Attention"; values that the type cannot represent: "Values that are not finite"). The first
// position of a block clears the rest of it. One thread at a time for each head's block.
#pragma once

#include <cstddef>

#include "backend/backend.h"

namespace wick {

// `block` is the head's part of the block, `slot` the position mod 16.
void store_key(KvType type, const float* key, int dim, std::byte* block, int slot) noexcept;
void store_value(KvType type, const float* value, int dim, std::byte* block, int slot) noexcept;

// The first n positions of a head's block, 1 to 16, to another block, whose other positions become
// zeros.
void copy_keys(KvType type, int dim, const std::byte* from, std::byte* to, int n) noexcept;
void copy_values(KvType type, int dim, const std::byte* from, std::byte* to, int n) noexcept;

}  // namespace wick
