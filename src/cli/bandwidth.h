// How fast this machine reads memory: the limit that decode speed is held against.
#pragma once

#include <cstddef>
#include <span>

#include "base/thread_team.h"

namespace wick {

// Bytes per second of a plain read of `bytes`, eight streams in each member of `team`.
double read_bandwidth(ThreadTeam& team, std::span<const std::byte> bytes) noexcept;

}  // namespace wick
