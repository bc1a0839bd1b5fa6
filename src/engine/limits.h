// What the engine refuses to exceed.
#pragma once

namespace wick {

inline constexpr int kMaxSeqs = 256;
inline constexpr int kMaxContext = 1 << 24;   // positions
inline constexpr int kMaxBatchTokens = 8192;  // tokens in one step
inline constexpr int kInboxLen =
    256;  // requests not yet seen by the engine, and as many waiting for a slot
inline constexpr int kMaxStops = 16;       // stop strings of a request
inline constexpr int kMaxStopBytes = 512;  // of each

}  // namespace wick
