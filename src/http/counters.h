// What the transport counts. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace wick::http {

// Since the start; any thread may read.
struct Counters {
  std::atomic<std::uint64_t> connections = 0;  // accepted
  std::atomic<std::uint64_t> open = 0;         // now
  std::atomic<std::uint64_t> refused = 0;      // connections beyond the limits
  std::atomic<std::uint64_t> requests = 0;     // answered, also by an error
  std::atomic<std::uint64_t> cancelled = 0;    // whose client went before the end
  std::atomic<std::uint64_t> failed = 0;       // answered by a status from 500 on
  std::atomic<std::uint64_t> sent_bytes = 0;
};

}  // namespace wick::http
