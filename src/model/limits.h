// Limits of models and caches. A file that exceeds them is refused before anything is allocated;
// every product of two of these fits 64 bits.
#pragma once

#include <cstdint>

namespace wick {

inline constexpr int kMaxLayers = 1024;
inline constexpr int kMaxWidth = 1 << 17;   // features of a hidden state, or of all heads together
inline constexpr int kMaxHidden = 1 << 18;  // features inside a feed-forward layer
inline constexpr int kMaxExperts = 4096;
inline constexpr int kMaxHeads = 2048;
inline constexpr int kMaxHeadDim = 1024;
inline constexpr int kMaxVocab = 1 << 21;
inline constexpr int kMaxContext = 1 << 24;  // positions of one sequence
inline constexpr double kMaxTheta = 1e15;    // base of a rotation
inline constexpr int kMaxAdapters = 64;      // LoRA adapters of one model
inline constexpr int kMaxAdapterRank = 1024;
inline constexpr int kMaxModelSeqs = 1024;
inline constexpr int kMaxBatchTokens = 8192;
inline constexpr int kMaxCacheBlocks = 1 << 24;            // in all sequences together
inline constexpr std::int64_t kMaxTableEntries = 1 << 26;  // block ids of all sequences together

}  // namespace wick
