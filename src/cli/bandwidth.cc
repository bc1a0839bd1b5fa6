#include "cli/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/clock.h"

namespace wick {

namespace {

constexpr std::size_t kChunk = 512 << 10;
constexpr std::size_t kStep = 256;
// One stream alone does not fill the memory system (kernels/cpu/matmul_avx2.h).
constexpr std::size_t kStreams = 8;

// As wide as every x86-64 and ARMv8 processor reads; four sums, so that no addition waits for
// another.
using Words = std::uint64_t __attribute__((vector_size(16)));

Words words_at(const std::byte* at) noexcept {
  Words words;
  std::memcpy(&words, at, sizeof words);
  return words;
}

std::uint64_t sum(std::span<const std::byte> bytes) noexcept {
  Words a = {}, b = {}, c = {}, d = {};
  const std::size_t stride = bytes.size() / kStreams / kStep * kStep;
  for (std::size_t i = 0; i < stride; i += kStep) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const std::byte* const from = bytes.data() + s * stride + i;
      for (const std::byte* at = from; at != from + kStep; at += 4 * sizeof(Words)) {
        a += words_at(at);
        b += words_at(at + 16);
        c += words_at(at + 32);
        d += words_at(at + 48);
      }
    }
  }
  a += b + c + d;
  return a[0] + a[1];
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
