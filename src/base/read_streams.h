// Reads memory at full speed: the baseline of bandwidth measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wick {

// Numbers of streams of which one fills the memory system of any processor that was measured:
// a Zen 5 core reads twice as fast in one or two as in eight, some Intel cores the other way round.
inline constexpr std::size_t kReadStreams[] = {1, 2, 4, 8};

// Reads `bytes` in so many streams at once, each in address order; up to 256 bytes of each may be
// left out. Returns the sum of what it read, so that the reading cannot be left out.
std::uint64_t read_streams(std::span<const std::byte> bytes, std::size_t streams) noexcept;

}  // namespace wick
