#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/cgroup.h"
#include "base/hot_scope.h"
#include "support/hot_counters.h"
#include "support/no_threads.h"
#include "support/temp_dir.h"

namespace wick {
namespace {

TEST(ThreadTeam, RunsEveryChunkExactlyOnce) {
  for (const int members : {1, 2, 4}) {
    ThreadTeam team = *ThreadTeam::create(members);
    for (const int n_chunks : {0, 1, 2, 3, 17, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n_chunks));
      team.run(n_chunks, [&](int chunk, int) noexcept { ++runs[static_cast<std::size_t>(chunk)]; });
      for (const auto& count : runs) {
        ASSERT_EQ(count, 1) << members << " members, " << n_chunks << " chunks";
      }
    }
  }
}

TEST(ThreadTeam, MembersAreNumberedFromTheCaller) {
  ThreadTeam team = *ThreadTeam::create(3);
  ASSERT_EQ(team.size(), 3);
  std::atomic<bool> all_in_range = true;
  std::atomic<bool> caller_is_zero = true;
  const std::thread::id caller = std::this_thread::get_id();
  for (int phase = 0; phase < 100; ++phase) {
    team.run(30, [&](int, int member) noexcept {
      if (member < 0 || member >= 3) all_in_range = false;
      if ((member == 0) != (std::this_thread::get_id() == caller)) caller_is_zero = false;
    });
  }
  EXPECT_TRUE(all_in_range);
  EXPECT_TRUE(caller_is_zero);
}

TEST(ThreadTeam, WhatChunksWroteIsVisibleAfterRun) {
  // Plain ints, no atomics: ThreadSanitizer fails this if run() does not order the accesses.
  ThreadTeam team = *ThreadTeam::create(4);
  std::vector<int> cells(64, 0);
  for (int phase = 1; phase <= 2000; ++phase) {
    team.run(64, [&](int chunk, int) noexcept {
      int& cell = cells[static_cast<std::size_t>(chunk)];
      cell = cells[static_cast<std::size_t>(chunk)] + 1;
    });
    for (const int cell : cells)
      ASSERT_EQ(cell, phase);
  }
}

// A phase that ends only when every member has taken part.
void meet(ThreadTeam& team) {
  std::atomic<int> arrived = 0;
  team.run(team.size(), [&](int, int) noexcept {
    ++arrived;
    while (arrived < team.size())
      std::this_thread::yield();
  });
}

TEST(ThreadTeam, HundredThousandPhasesLoseNoChunk) {
  for (const int members : {2, 3}) {  // on two processors: one that spins, one that parks at once
    ThreadTeam team = *ThreadTeam::create(members);
    std::int64_t want = 0;
    std::atomic<std::int64_t> got = 0;
    for (int phase = 0; phase < 50'000; ++phase) {
      if (phase % 1000 == 0) meet(team);   // else the caller may be done before a helper woke
      const int n_chunks = phase % 7 + 1;  // sizes change, so a leaked claim would be seen
      want += static_cast<std::int64_t>(n_chunks) * (n_chunks - 1) / 2 + n_chunks * (phase % 13);
      team.run(n_chunks, [&got, phase](int chunk, int) noexcept { got += chunk + phase % 13; });
    }
    EXPECT_EQ(got, want) << members << " members";
  }
}

TEST(ThreadTeam, WakesMembersThatParked) {
  ThreadTeam team = *ThreadTeam::create(2);
  for (int phase = 0; phase < 20; ++phase) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than any spin
    meet(team);
  }
}

TEST(HotPathThreadTeam, RunNeitherAllocatesNorLocks) {
  ThreadTeam team = *ThreadTeam::create(2);
  std::atomic<int> sum = 0;
  test::reset_hot_counts();
  {
    const HotScope hot;
    for (int phase = 0; phase < 1000; ++phase) {
      if (phase % 100 == 0) meet(team);
      team.run(8, [&](int chunk, int) noexcept { sum += chunk; });
    }
  }
  EXPECT_EQ(sum, 28'000);
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
}

TEST(ThreadTeam, IsAnErrorWhereTheSystemStartsNoFurtherThread) {
  const test::NoThreads refused;
  const auto team = ThreadTeam::create(2);
  ASSERT_FALSE(team);
  EXPECT_EQ(team.error().id, "no_thread");
  EXPECT_NE(team.error().message.find("Resource temporarily unavailable"), std::string::npos);
  EXPECT_TRUE(ThreadTeam::create(1)) << "the caller alone needs no thread";
}

TEST(UsableThreads, IsAtLeastOneAndAtMostTheProcessors) {
  EXPECT_GE(usable_threads(), 1);
  EXPECT_LE(usable_threads(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(Cgroup, ReadsBothVersionsOfQuota) {
  EXPECT_EQ(quota_of_v2("150000 100000"), 1.5);
  EXPECT_EQ(quota_of_v2("max 100000"), HUGE_VAL);
  EXPECT_EQ(quota_of_v2(""), HUGE_VAL);
  EXPECT_EQ(quota_of_v1("400000", "100000"), 4);
  EXPECT_EQ(quota_of_v1("-1", "100000"), HUGE_VAL);
}

void write(const std::filesystem::path& path, const char* text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(Cgroup, TakesTheSmallestQuotaOnTheWayUp) {
  const test::TempDir dir;
  write(dir.path() / "self", "0::/a/b\n");
  write(dir.path() / "fs/a/cpu.max", "200000 100000\n");
  write(dir.path() / "fs/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(cgroup_quota(dir.path() / "self", dir.path() / "fs"), 2);
}

TEST(Cgroup, FindsTheCpuControllerOfVersionOne) {
  const test::TempDir dir;
  write(dir.path() / "self", "5:memory:/x\n4:cpu,cpuacct:/job\n");
  write(dir.path() / "fs/cpu/job/cpu.cfs_quota_us", "50000\n");
  write(dir.path() / "fs/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(dir.path() / "self", dir.path() / "fs"), 0.5);
}

}  // namespace
}  // namespace wick
