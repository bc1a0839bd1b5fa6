// What the engine refuses to exceed, beside what a model does.
#pragma once

#include <cstddef>

#include "model/limits.h"

namespace wick {

inline constexpr int kMaxSeqs = 256;
inline constexpr int kMaxQueue = 1 << 16;  // requests waiting for a slot
inline constexpr int kMaxPriority = 2;     // and its negative
inline constexpr int kMaxMilliseconds = 1 << 30;
inline constexpr int kMaxDraft = 64;                   // tokens guessed ahead in one step
inline constexpr int kMaxStops = 16;                   // stop sequences of a request
inline constexpr int kMaxStopIds = 64;                 // token ids that end a request
inline constexpr int kMaxStopBytes = 512;              // of each
inline constexpr int kMaxEmitTokens = 256;             // that gather before they are offered
inline constexpr std::size_t kMaxEmitBytes = 1 << 14;  // so much text waits for no more
// Texts that go on differently behind one block: so many are compared, the latest first, for the
// one that agrees longest inside the next block.
inline constexpr int kMaxSiblings = 1024;

// A waiting request rises by one priority in so many steps, up to the highest.
inline constexpr int kAgeingSteps = 256;
// A sequence whose reader has been behind for so many steps leaves its slot if others wait.
inline constexpr int kParkingSteps = 16;

}  // namespace wick
