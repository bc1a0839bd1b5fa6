// What models of a CPU share: memory that is counted, one team of threads.
#include "backend/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend/cpu/ops_fixture_test.h"
#include "support/thread_count.h"

namespace wick::test {
namespace {

constexpr BackendLimits kLimits = {
    .max_batch_tokens = 8, .max_cols = 64, .max_heads = 2, .max_head_dim = 32, .max_context = 64};

Result<std::unique_ptr<Backend>> with_threads(Device& device, int threads) {
  BackendLimits limits = kLimits;
  limits.threads = threads;
  return device.create_backend(limits, {});
}

TEST(CpuDevice, RefusesImpossibleNumbersOfThreads) {
  CpuDevice device(Isa::kScalar);
  EXPECT_EQ(with_threads(device, -1).error().id, "bad_threads");
  EXPECT_EQ(with_threads(device, 100000).error().id, "bad_threads");
  const auto backend = with_threads(device, 2);
  ASSERT_TRUE(backend) << to_string(backend.error());
  EXPECT_EQ((*backend)->threads(), 2);
  EXPECT_EQ(device.info().name, "cpu");
  EXPECT_EQ(device.info().description, "cpu/scalar");
}

TEST(CpuDevice, BuffersAreZeroedAndAligned) {
  CpuDevice device(Isa::kScalar);
  const auto buffer = allocate(device, 100'000);
  EXPECT_EQ(buffer->bytes(), 100'000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
  EXPECT_EQ(bytes_of(*buffer), std::vector<std::byte>(100'000));
}

TEST(CpuDevice, ItsModelsShareOneTeamThatIsAsLargeAsTheLargestAskedFor) {
  CpuDevice device(Isa::kScalar);
  const int before = thread_count();
  {
    const auto first = *with_threads(device, 2);
    EXPECT_EQ(thread_count(), before + 1) << "the caller computes too";
    const auto second = *with_threads(device, 2);
    EXPECT_EQ(thread_count(), before + 1);
    const auto third = *with_threads(device, 4);
    EXPECT_EQ(thread_count(), before + 3);
    EXPECT_EQ(first->threads(), 2);
    EXPECT_EQ(third->threads(), 4);
  }
  EXPECT_EQ(thread_count(), before) << "the team ends with the last model";
}

TEST(CpuDevice, BytesInUseAreThoseOfBuffersVectorsAndScratch) {
  CpuDevice device(Isa::kScalar);
  {
    const auto buffer = allocate(device, 1000);
    EXPECT_EQ(device.bytes_in_use(), 1000U);
    Weights weights(device);
    weights.matrix(DType::kF32, 8, 32, 1);
    EXPECT_EQ(device.bytes_in_use(), 1000U) << "a matrix stays where the file is mapped";
    weights.vector(32, 2);
    EXPECT_EQ(device.bytes_in_use(), 1000U + 128U);
    const auto backend = *with_threads(device, 2);
    EXPECT_GT(backend->scratch_bytes(), 0U);
    EXPECT_EQ(device.bytes_in_use(), 1128U + backend->scratch_bytes());
  }
  EXPECT_EQ(device.bytes_in_use(), 0U);
}

TEST(FakeDevice, ItsMemoryFaultsWhereTheHostTouchesIt) {
  FakeDevice device(Isa::kScalar);
  const auto buffer = allocate(device, 100'000);
  const std::byte one = {};
  buffer->write(99'999, std::span(&one, 1));
  EXPECT_EQ(buffer->host(), nullptr);
  EXPECT_DEATH(static_cast<void>(*static_cast<volatile std::byte*>(buffer->data() + 99'999)), "");
}

TEST(FakeDevice, WhatIsGivenBackIsZerosWhenItIsTakenAgain) {
  FakeDevice device(Isa::kScalar);
  const std::vector<std::byte> ones(10'000, std::byte{1});
  auto buffer = allocate(device, ones.size());
  const std::byte* const place = buffer->data();
  buffer->write(0, ones);
  buffer.reset();
  EXPECT_EQ(device.bytes_in_use(), 0U);
  buffer = allocate(device, ones.size());
  EXPECT_EQ(buffer->data(), place);
  EXPECT_EQ(bytes_of(*buffer), std::vector<std::byte>(ones.size()));
}

// Two threads count up in turns what is no atomic: ThreadSanitizer and the sum would tell.
TEST(SharedTeam, OnlyOneHasItsTurn) {
  const auto team = *SharedTeam::create(2);
  constexpr int kTurns = 2000;
  int inside = 0;
  std::int64_t sum = 0;
  const auto work = [&](int size) {
    TeamShare share(team, size);
    for (int i = 0; i < kTurns; ++i) {
      share.begin();
      ++inside;
      std::atomic<int> chunks = 0;
      share.run(4, [&](int, int) noexcept { ++chunks; });
      EXPECT_EQ(inside, 1);
      sum += chunks;
      --inside;
      share.yield();
      share.end();
    }
  };
  { const std::jthread first(work, 2), second(work, 1), third(work, 2); }
  EXPECT_EQ(sum, 3 * kTurns * 4);
}

TEST(SharedTeam, AModelWithFewerThreadsComputesOnTheseAlone) {
  const auto team = *SharedTeam::create(4);
  TeamShare share(team, 2);
  std::atomic<int> highest = 0;
  for (int i = 0; i < 500; ++i) {
    share.begin();
    share.run(16, [&](int, int member) noexcept {
      for (int seen = highest; member > seen && !highest.compare_exchange_weak(seen, member);) {
      }
    });
    share.end();
  }
  EXPECT_LT(highest, 2);
}

}  // namespace
}  // namespace wick::test
