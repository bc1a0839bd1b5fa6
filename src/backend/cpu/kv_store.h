// Writes one head's key or value of one position into its cache block (layouts: docs/numerics.md,
// "Attention"). The first position of a block clears the rest of it, so that what attention reads
// behind a query is always finite. One thread at a time for each head's block.
#pragma once

#include <cstddef>

#include "backend/backend.h"

namespace wick {

// `block` is the head's part of the block, `slot` the position mod 16.
void store_key(KvType type, const float* key, int dim, std::byte* block, int slot) noexcept;
void store_value(KvType type, const float* value, int dim, std::byte* block, int slot) noexcept;

}  // namespace wick
