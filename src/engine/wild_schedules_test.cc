// Schedules over models that hold NaN, infinities and huge values in any tensor: what a request
// yields, an error included, is what it yields alone, whatever earlier or concurrent requests left
// in the cache.
//
// SlowWildSchedules tries WICK_TEST_WILD_SCHEDULES of them (2,000), on models from the seed
// WICK_TEST_WILD_FIRST (1,000) on, twenty on each.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>

#include "engine/schedules_fixture_test.h"
#include "support/wild_model.h"

namespace wick {
namespace {

struct Pair {
  KvType k, v;
};

constexpr Pair kPairs[] = {{KvType::kBF16, KvType::kBF16}, {KvType::kF32, KvType::kF32},
                           {KvType::kF16, KvType::kF16},   {KvType::kQ8_0, KvType::kQ8_0},
                           {KvType::kQ4_0, KvType::kQ4_0}, {KvType::kQ8_0, KvType::kF16},
                           {KvType::kF16, KvType::kQ4_0}};

struct Totals {
  int schedules = 0, requests = 0, failed = 0, reuses = 0, preemptions = 0;
};

void try_model(std::uint32_t seed, int n_schedules, Totals& totals) {
  const test::TempDir dir;
  const test::TinyModel tiny = test::wild_model(seed);
  test::write_tiny_model(dir.path() / "m.gguf", tiny);
  const Pair& pair = kPairs[seed % std::size(kPairs)];
  SCOPED_TRACE("model " + std::to_string(seed) + ", keys " + std::string(name(pair.k)) +
               ", values " + std::string(name(pair.v)));
  Schedules schedules({.path = dir.path() / "m.gguf",
                       .k = pair.k,
                       .v = pair.v,
                       .arch = test::tiny_arch(tiny.arch)});
  schedules.run(static_cast<int>(seed) * 1000, n_schedules);
  totals.schedules += n_schedules;
  totals.requests += schedules.n_requests;
  totals.failed += schedules.n_failed;
  totals.reuses += schedules.reuses;
  totals.preemptions += schedules.preemptions;
}

void try_models(int first_seed, int n_schedules, int per_model) {
  Totals totals;
  for (int seed = first_seed; totals.schedules < n_schedules && !testing::Test::HasFailure();
       ++seed) {
    try_model(static_cast<std::uint32_t>(seed), per_model, totals);
  }
  std::printf("%d schedules, %d requests, %d of them failed, %d reused a prefix, %d preemptions\n",
              totals.schedules, totals.requests, totals.failed, totals.reuses, totals.preemptions);
  EXPECT_GT(totals.reuses, totals.requests / 10) << "nothing was ever reused";
  EXPECT_GT(totals.failed, 0) << "no model was bad enough";
  EXPECT_LT(totals.failed, totals.requests * 9 / 10) << "no model was good enough";
}

TEST(SameBitsWildSchedules, YieldWhatEachRequestYieldsAlone) {
  try_models(1, 400, 20);
}

TEST(SlowWildSchedules, YieldWhatEachRequestYieldsAlone) {
  try_models(env_number("WICK_TEST_WILD_FIRST", 1000), env_number("WICK_TEST_WILD_SCHEDULES", 2000),
             20);
}

}  // namespace
}  // namespace wick
