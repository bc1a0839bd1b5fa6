// Reads memory at full speed: the baseline of bandwidth measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wick {

// Reads `bytes` in eight streams, each in address order, because one stream alone does not fill the
// memory system (kernels/cpu/matmul_avx2.h); up to 2 KiB at the end may be left out. Returns the
// sum of what it read, so that the reading cannot be left out.
std::uint64_t read_streams(std::span<const std::byte> bytes) noexcept;

}  // namespace wick
