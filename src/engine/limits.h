// Limits of the engine, beside those of models.
#pragma once

#include <cstddef>

#include "model/limits.h"

namespace wick {

inline constexpr int kMaxSeqs = 256;
inline constexpr int kEncoderSeqs = 64;    // texts of an encoder that may run at once
inline constexpr int kMaxQueue = 1 << 16;  // requests waiting for a slot
inline constexpr int kMaxPriority = 2;     // and its negative
inline constexpr int kMaxMilliseconds = 1 << 30;
inline constexpr int kMaxDraft = 64;                   // draft tokens in one step
inline constexpr int kMaxStops = 16;                   // stop sequences of a request
inline constexpr int kMaxStopIds = 64;                 // token ids that end a request
inline constexpr int kMaxStopBytes = 512;              // of each
inline constexpr int kMaxEmitTokens = 256;             // grouped into one delta
inline constexpr std::size_t kMaxEmitBytes = 1 << 14;  // text of one delta
// Children of a prefix cache node that are compared, latest first, for the longest match inside the
// next block.
inline constexpr int kMaxSiblings = 1024;

// Steps after which a waiting request rises by one priority, up to the highest.
inline constexpr int kAgeingSteps = 256;
// Prompt tokens of a client in one step beside the decoding of others, at least; and how many times
// as many it may compute beyond its share.
inline constexpr int kClientChunk = 64;
inline constexpr int kClientBurst = 4;
// Steps after which a paused sequence is preempted if others wait.
inline constexpr int kParkingSteps = 16;

}  // namespace wick
