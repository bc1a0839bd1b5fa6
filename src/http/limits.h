// Limits of the HTTP transport: anything from a socket may be hostile. Each is checked before
// memory is taken. The fields of Limits are these numbers in the program; a test makes them small.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::http {

inline constexpr std::size_t kMaxHeadBytes = 16 << 10;   // request line and headers: 431
inline constexpr int kMaxHeaders = 100;                  // 431
inline constexpr std::size_t kMaxTargetBytes = 8 << 10;  // path and query: 414
inline constexpr std::size_t kMaxMethodBytes = 32;
inline constexpr std::size_t kMaxHostBytes = 255;
inline constexpr std::size_t kMaxRequestIdBytes = 128;
inline constexpr std::size_t kMaxBodyBytes = 32 << 20;        // 413
inline constexpr std::size_t kMaxAllBodiesBytes = 512 << 20;  // of all connections: 503
inline constexpr std::size_t kSlowBodyBytes = 64 << 10;       // from here on: kSlowWorkers
inline constexpr std::size_t kLargeBodyBytes = 1 << 20;       // the heap is trimmed behind it
inline constexpr std::size_t kMaxAheadBytes = 64 << 10;       // sent while an answer is under way
inline constexpr std::size_t kMaxStreamBytes = 256 << 10;  // written, not yet taken by the client
inline constexpr std::size_t kMaxMessageBytes = 1 << 20;   // of a WebSocket
inline constexpr std::size_t kReadBytes = 16 << 10;        // at once

inline constexpr int kMaxConnections = 1024;  // beyond: 503 at once
inline constexpr int kMaxConnectionsPerAddress = 256;
inline constexpr int kMaxRefused = 256;     // connections that are being told so; beyond: closed
inline constexpr int kListenBacklog = 512;  // of the kernel's queue
inline constexpr int kWorkers = 4;
inline constexpr int kSlowWorkers = 2;    // more, which give way to threads that make tokens
inline constexpr int kSlowNiceness = 15;  // what they add to the process's
inline constexpr int kMaxQueued = 256;  // requests that wait for a worker; beyond: 503

inline constexpr std::int64_t kHeadMs = 10'000;   // for a head, for a handshake of TLS
inline constexpr std::int64_t kBodyMs = 60'000;   // for a whole body
inline constexpr std::int64_t kIdleMs = 60'000;   // between two requests
inline constexpr std::int64_t kStallMs = 30'000;  // of a client that takes no bytes
inline constexpr std::int64_t kHeartbeatMs = 15'000;
inline constexpr std::int64_t kLingerMs = 2'000;  // to read an error before the connection goes
inline constexpr std::int64_t kDrainMs = 30'000;
inline constexpr std::int64_t kLastCallMs = 1'000;  // before that is over

inline constexpr std::size_t kMaxKeyFileBytes = 1 << 20;
inline constexpr int kMaxKeys = 10'000;
inline constexpr int kMaxKeyRequests = 1'000'000;            // rpm, parallel
inline constexpr std::int64_t kMaxKeyTokens = 1'000'000'000;  // tpm
inline constexpr std::size_t kMaxKeyModels = 256, kMaxKeyBudgets = 8;
inline constexpr int kMaxListeners = 64;

struct Limits {
  std::size_t head_bytes = kMaxHeadBytes;
  int headers = kMaxHeaders;
  std::size_t body_bytes = kMaxBodyBytes, all_bodies_bytes = kMaxAllBodiesBytes;
  std::size_t stream_bytes = kMaxStreamBytes, message_bytes = kMaxMessageBytes;
  int connections = kMaxConnections, connections_per_address = kMaxConnectionsPerAddress;
  int workers = kWorkers, queued = kMaxQueued;
  std::int64_t head_ms = kHeadMs, body_ms = kBodyMs, idle_ms = kIdleMs, stall_ms = kStallMs;
  std::int64_t heartbeat_ms = kHeartbeatMs, linger_ms = kLingerMs, drain_ms = kDrainMs;
  std::int64_t last_call_ms = kLastCallMs;
};

}  // namespace wick::http
