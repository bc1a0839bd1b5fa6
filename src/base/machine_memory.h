// How much memory this process may use at most. Any thread.
#pragma once

#include <cstdint>

namespace wick {

// The machine's, or what the control group (v2) of the process allows if that is less. 0: unknown.
std::uint64_t machine_memory_bytes() noexcept;

}  // namespace wick
