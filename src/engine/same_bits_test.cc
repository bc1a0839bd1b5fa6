// What a request yields is what it yields alone (schedules_fixture_test.h), on one model for each
// kind of cache.
//
// The default suite tries some for each model; SlowSchedules tries WICK_TEST_SCHEDULES of them for
// each kind of cache (2,000 in all unless it says otherwise), ModelSchedules 50 on the real model.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

#include "engine/schedules_fixture_test.h"
#include "support/test_data.h"

namespace wick {
namespace {

struct Kind {
  const char* name;
  const char* arch;
  DType weights;
  KvType k, v;
  int window = 0;
  bool window_alternates = false;
  int delta_heads = 0;
  int n_schedules = 40;  // of the fast run, enough for speculation to be used
  int latent = 0, query_rank = 0;
  bool has_joint_kv = false;
  int experts = 0;
};

constexpr Kind kKinds[] = {
    {"f32", "llama", DType::kF32, KvType::kF32, KvType::kF32},
    {"bf16", "llama", DType::kQ4_1, KvType::kBF16, KvType::kBF16},
    {"f16", "qwen2", DType::kQ8_0, KvType::kF16, KvType::kF16},
    {"q8_0", "qwen3", DType::kQ4_0, KvType::kQ8_0, KvType::kQ8_0},
    {"q4_0", "llama", DType::kF32, KvType::kQ4_0, KvType::kQ4_0},
    {"q8_0_f16", "qwen2", DType::kF32, KvType::kQ8_0, KvType::kF16},
    {"window", "llama", DType::kF32, KvType::kF32, KvType::kF32, 24},
    {"windows_and_all", "qwen3", DType::kQ4_0, KvType::kQ8_0, KvType::kQ8_0, 37, true},
    {"delta", "tiny-delta", DType::kF32, KvType::kF32, KvType::kF32, 0, false, 2, 160},
    {"delta_window", "tiny-delta", DType::kQ8_0, KvType::kBF16, KvType::kBF16, 33, false, 3, 160},
    {"mla", "tiny-mla", DType::kF32, KvType::kBF16, KvType::kBF16, 0, false, 0, 100, 64},
    {"mla_window", "tiny-mla", DType::kQ8_0, KvType::kF32, KvType::kF16, 33, false, 0, 100, 32, 32},
    {"mla_joint_q8_0", "tiny-mla", DType::kQ4_0, KvType::kQ8_0, KvType::kQ4_0, 0, false, 0, 100, 96,
     64, true},
    {"experts", "qwen3moe", DType::kF32, KvType::kF32, KvType::kF32, 0, false, 0, 40, 0, 0, false,
     7}};

Subject written(const Kind& kind, const std::filesystem::path& path) {
  test::write_tiny_model(path, {.arch = kind.arch,
                                .d_model = 64,
                                .n_heads = 2,
                                .n_kv_heads = 1,
                                .head_dim = 32,
                                .window = kind.window,
                                .window_alternates = kind.window_alternates,
                                .delta_heads = kind.delta_heads,
                                .latent = kind.latent,
                                .query_rank = kind.query_rank,
                                .has_joint_kv = kind.has_joint_kv,
                                .experts = kind.experts,
                                .type = kind.weights});
  return {.path = path, .k = kind.k, .v = kind.v, .arch = test::tiny_arch(kind.arch)};
}

void try_schedules(const Kind& kind, int first, int count) {
  const test::TempDir dir;
  Schedules schedules(written(kind, dir.path() / "m.gguf"));
  schedules.run(first, count);
  std::printf(
      "%s: schedules %d to %d, %d preemptions, %d reuses, %d accepted and %d rejected draft "
      "tokens\n",
      kind.name, first, first + count - 1, schedules.preemptions, schedules.reuses,
      schedules.accepted_tokens, schedules.rejected_tokens);
  EXPECT_GT(schedules.preemptions, 0) << "the cache was never short";
  EXPECT_GT(schedules.reuses, count / 10) << "nothing was ever reused";
  EXPECT_GT(schedules.accepted_tokens + schedules.rejected_tokens, 0)
      << "no token was ever drafted";
}

class SameBitsSchedules : public testing::TestWithParam<int> {};

TEST_P(SameBitsSchedules, YieldWhatEachRequestYieldsAlone) {
  const Kind& kind = kKinds[GetParam()];
  try_schedules(kind, 1 + 100 * GetParam(), kind.n_schedules);
}

// Cut in two behind any part, and with a change of device at each: what another device computes of
// a pass changes no bit either.
TEST_P(SameBitsSchedules, YieldTheSameOnTwoDevices) {
  const Kind& kind = kKinds[GetParam()];
  const test::TempDir dir;
  Schedules schedules(written(kind, dir.path() / "m.gguf"));
  constexpr int kEach = 4;
  int first = 5000 + 100 * GetParam();
  for (const auto& parts : test::all_cuts(2)) {
    SCOPED_TRACE(test::to_string(parts));
    schedules.parts = parts;
    schedules.run(first, kEach);
    first += kEach;
  }
  EXPECT_GT(schedules.preemptions, 0) << "the cache was never short";
  EXPECT_GT(schedules.reuses, 0) << "nothing was ever reused";
  EXPECT_GT(schedules.accepted_tokens + schedules.rejected_tokens, 0)
      << "no token was ever drafted";
}

class SlowSchedules : public testing::TestWithParam<int> {};

TEST_P(SlowSchedules, YieldWhatEachRequestYieldsAlone) {
  const int all = env_number("WICK_TEST_SCHEDULES", 2004);
  try_schedules(kKinds[GetParam()], 1000, all / static_cast<int>(std::size(kKinds)));
}

std::string kind_name(const testing::TestParamInfo<int>& info) {
  return kKinds[info.param].name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SameBitsSchedules,
                         testing::Range(0, static_cast<int>(std::size(kKinds))), kind_name);
INSTANTIATE_TEST_SUITE_P(Kinds, SlowSchedules,
                         testing::Range(0, static_cast<int>(std::size(kKinds))), kind_name);

TEST(ModelSchedules, YieldWhatEachRequestYieldsAlone) {
  const std::filesystem::path path = test::default_model();
  Schedules schedules({.path = path,
                       .k = KvType::kBF16,
                       .v = KvType::kBF16,
                       .context = 256,
                       .longest_prompt = 120,
                       .longest_answer = 16});
  schedules.run(1, env_number("WICK_TEST_MODEL_SCHEDULES", 50));
  EXPECT_GT(schedules.preemptions, 0);
  EXPECT_GT(schedules.reuses, 0);
}

}  // namespace
}  // namespace wick
