// How much memory this process may use at most. Any thread.
#pragma once

#include <cstdint>

namespace wick {

// The machine's memory, or the limit of the process's control group (v2) if it is lower. 0:
// unknown.
std::uint64_t machine_memory_bytes() noexcept;

}  // namespace wick
