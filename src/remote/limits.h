// Limits of what a remote API may send.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::remote {

inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;    // of a stream
inline constexpr std::size_t kMaxEventBytes = std::size_t{4} << 20;   // all data lines of an event
inline constexpr std::size_t kMaxWholeBytes = std::size_t{32} << 20;  // an answer that is no stream
inline constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10;  // of an error's body
inline constexpr std::size_t kMaxMessageBytes = 500;  // of an API's error message that is repeated
inline constexpr int kMaxToolCalls = 128;             // of one answer
inline constexpr std::size_t kFullBytes = std::size_t{256} << 10;   // of unread events: pause
inline constexpr std::size_t kResumeBytes = std::size_t{64} << 10;  // and go on
inline constexpr std::int64_t kMaxRetryAfterMs = 24 * 3'600'000;

inline constexpr int kMaxHops = 4;  // a request that was passed on so often goes no further

}  // namespace wick::remote
