// Limits of requests. The transport limits headers, bodies and connections (http/), the provider
// limits model parameters; these are the limits between.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::server {

inline constexpr std::size_t kMaxBodyBytes = std::size_t{16} << 20;  // of JSON
inline constexpr int kMaxJsonLevels = 64;
inline constexpr std::size_t kMaxEarlyBytes = 64 << 10;  // of a request that the loop reads
inline constexpr std::size_t kMaxQuickBytes = 16 << 10;  // of one that the loop's thread handles
inline constexpr std::size_t kMaxBodyValues = 1 << 20;   // with the keys of objects

inline constexpr int kMaxChoices = 16;          // n
inline constexpr std::size_t kMaxAnswers = 64;  // prompts of one request times n
inline constexpr std::size_t kMaxStops = 4;
inline constexpr std::size_t kMaxLogitBias = 1024;
inline constexpr int kMaxTopLogprobs = 20;
inline constexpr std::size_t kMaxTools = 128;
inline constexpr std::size_t kMaxInfillFiles = 256;
inline constexpr std::size_t kMaxEmbedInputs = 2048;
inline constexpr std::size_t kMaxStoredResponses = 1024;  // for previous_response_id
inline constexpr std::size_t kMaxStoredBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxSocketChats = 16;   // of one WebSocket at once
inline constexpr std::size_t kMaxSocketFrames = 64;  // that wait until the client reads
inline constexpr std::size_t kMaxSocketId = 64;      // bytes
inline constexpr std::size_t kMaxSpans = 2048;       // of traces that wait to be sent

inline constexpr std::size_t kMaxIgnoredNames = 16;    // told in x-wick-ignored, of 64 bytes each
inline constexpr std::size_t kStreamPiece = 16 << 10;  // bytes gathered before they are written
inline constexpr int kMaxRetryAfter = 120;             // seconds; clients of OpenAI give up beyond
inline constexpr double kLeastLogprob = -9999;         // what stands for minus infinity in JSON

inline constexpr std::size_t kMaxAuditLines = 65'536;  // that wait for the disk

}  // namespace wick::server
