#include "cli/bandwidth.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/clock.h"

namespace wick {

namespace {

constexpr std::size_t kChunk = 512 << 10;
constexpr std::size_t kLine = 64;
constexpr std::size_t kStreams =
    8;  // one alone does not fill the memory system (kernels/cpu/matmul_avx2.h)

// Eight independent sums, so that the loop waits for memory and not for its own additions.
std::uint64_t sum(std::span<const std::byte> bytes) noexcept {
  std::array<std::uint64_t, 8> total = {};
  const std::size_t stride = bytes.size() / kStreams / kLine * kLine;
  for (std::size_t i = 0; i < stride; i += kLine) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      std::array<std::uint64_t, 8> part;
      std::memcpy(part.data(), bytes.data() + s * stride + i, kLine);
      for (std::size_t j = 0; j < part.size(); ++j)
        total[j] += part[j];
    }
  }
  std::uint64_t all = 0;
  for (const std::uint64_t x : total)
    all += x;
  return all;
}

}  // namespace

double read_bandwidth(ThreadTeam& team, std::span<const std::byte> bytes) noexcept {
  std::atomic<std::uint64_t> sink = 0;  // keeps the reads alive
  const std::int64_t start = monotonic_ns();
  const auto n_chunks = static_cast<int>((bytes.size() + kChunk - 1) / kChunk);
  team.run(n_chunks, [&](int chunk, int /*member*/) noexcept {
    const std::size_t begin = static_cast<std::size_t>(chunk) * kChunk;
    const auto part = bytes.subspan(begin, std::min(kChunk, bytes.size() - begin));
    sink.fetch_add(sum(part), std::memory_order_relaxed);
  });
  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  return static_cast<double>(bytes.size()) / std::max(seconds, 1e-9);
}

}  // namespace wick
