// Peak memory bandwidth and peak MAC rate of this machine, the bounds of decode and prefill.
#pragma once

#include <cstddef>
#include <span>

#include "base/thread_team.h"
#include "kernels/cpu/matmul.h"

namespace wick {

// Bytes per second of a plain read of `bytes` by all members of `team`, each in the number of
// streams (base/read_streams.h) that is fastest.
double read_bandwidth(ThreadTeam& team, std::span<const std::byte> bytes) noexcept;

// Products of bytes per second of all members together; 0 where `kernels` have no such multiply.
double multiply_peak(ThreadTeam& team, const MatmulKernels& kernels) noexcept;

}  // namespace wick
