#include "cli/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "base/read_streams.h"

namespace wick {

namespace {

constexpr std::size_t kChunk = 512 << 10;

double seconds_of_read(ThreadTeam& team, std::span<const std::byte> bytes,
                       std::size_t streams) noexcept {
  std::atomic<std::uint64_t> sink = 0;  // keeps the reads alive
  const std::int64_t start = monotonic_ns();
  const auto n_chunks = static_cast<int>((bytes.size() + kChunk - 1) / kChunk);
  team.run(n_chunks, [&](int chunk, int /*member*/) noexcept {
    const std::size_t begin = static_cast<std::size_t>(chunk) * kChunk;
    const auto part = bytes.subspan(begin, std::min(kChunk, bytes.size() - begin));
    sink.fetch_add(read_streams(part, streams), std::memory_order_relaxed);
  });
  return std::max(static_cast<double>(monotonic_ns() - start) * 1e-9, 1e-9);
}

}  // namespace

double read_bandwidth(ThreadTeam& team, std::span<const std::byte> bytes) noexcept {
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t streams : kReadStreams)
    best = std::min(best, seconds_of_read(team, bytes, streams));
  return static_cast<double>(bytes.size()) / best;
}

double multiply_peak(ThreadTeam& team, const MatmulKernels& kernels) noexcept {
  if (kernels.peak == nullptr) return 0;
  constexpr int kChunks = 8;                 // of each member
  constexpr std::uint64_t kRounds = 50'000;  // a chunk: about 0.1 ms
  std::atomic<std::uint64_t> products = 0;
  const std::int64_t start = monotonic_ns();
  team.run(kChunks * team.size(), [&](int /*chunk*/, int /*member*/) noexcept {
    products.fetch_add(kernels.peak(kRounds), std::memory_order_relaxed);
  });
  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  return static_cast<double>(products.load()) / std::max(seconds, 1e-9);
}

}  // namespace wick
