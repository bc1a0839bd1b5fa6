// Limits of this module.
#pragma once

#include <cstddef>

namespace wick::assist {

inline constexpr std::size_t kMaxSentence = 4096;  // bytes of a sentence
inline constexpr std::size_t kMaxInput = 16384;    // bytes of piped context that the prompt quotes
inline constexpr int kMaxNames = 50;               // names of the working directory in a prompt
inline constexpr std::size_t kMaxListing = 1024;   // bytes of these names
inline constexpr int kMaxScanned = 10'000;         // entries of a directory that are looked at
inline constexpr int kMaxReplyTokens = 400;        // of one answer of a local model
inline constexpr int kMaxRetryTokens = 128;        // of a local answer after one that was cut
inline constexpr int kMaxRetries = 16;             // of a local model; a remote one has one
inline constexpr std::size_t kMaxLoopPeriod = 64;  // bytes of the part that a loop repeats
inline constexpr std::size_t kMinLoop = 96;        // repeated bytes that make a loop
inline constexpr int kMaxRemoteTokens = 4000;      // of a remote one, which may reason before
inline constexpr std::size_t kMaxReply = 65536;    // bytes of one answer
inline constexpr int kMaxAlternatives = 9;
inline constexpr int kMaxRules = 1000;
inline constexpr int kMaxSandboxFiles = 50'000;  // of the working directory that is copied
inline constexpr std::size_t kMaxSandboxBytes = std::size_t{256} << 20;    // … and their bytes
inline constexpr std::size_t kMaxSandboxWritten = std::size_t{256} << 20;  // of one file there
inline constexpr std::size_t kMaxSandboxMemory = std::size_t{4} << 30;     // of one process there
inline constexpr std::size_t kMaxSandboxOutput = 65536;                    // bytes that are kept
inline constexpr std::size_t kMaxSandboxChanges = 1000;                    // that are listed
inline constexpr int kMaxSandboxMs = 20'000;
inline constexpr int kMaxSandboxProcesses = 256;
inline constexpr std::size_t kMaxHistory = std::size_t{16} << 20;  // bytes read of the history
inline constexpr std::size_t kMaxUndo = 65536;                     // bytes of one undo command

}  // namespace wick::assist
