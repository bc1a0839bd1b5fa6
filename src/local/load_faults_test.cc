// Loading when memory ends: at every single allocation, and again and again.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "local/local.h"
#include "provider/gather.h"
#include "support/hot_counters.h"
#include "support/no_threads.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

struct Model {
  test::TempDir dir;

  Model() { test::write_tiny_model(path()); }

  std::filesystem::path path() const { return dir.path() / "tiny.gguf"; }
};

Result<std::string> complete(Provider& provider) {
  WICK_TRY(const Completion answer,
           ask(provider, {.prompt = "abc", .generation = {.seed = 1, .max_tokens = 8}}));
  return answer.text;
}

std::string load_and_complete(const std::filesystem::path& path) {
  auto model = LocalModel::open(path, {.threads = 1});
  EXPECT_TRUE(model);
  if (!model) return {};
  auto text = complete(**model);
  EXPECT_TRUE(text);
  return text ? *text : std::string();
}

// Loads with the n-th allocation failing; false once the load needs fewer.
bool load_failing_at(const std::filesystem::path& path, long n) {
  const long before = test::live_allocations();
  test::fail_allocation(n);
  auto model = LocalModel::open(path, {.threads = 2});
  const bool has_failed = test::allocation_has_failed();
  test::fail_allocation(0);
  if (!has_failed) return false;
  if (!model) {
    EXPECT_EQ(model.error().code, ErrorCode::kNoMemory) << n << ": " << to_string(model.error());
  }
  model = Error{};
  EXPECT_EQ(test::live_allocations(), before) << n;
  return true;
}

TEST(LoadFaults, AFailedAllocationIsAnErrorAndTheNextLoadWorks) {
  const Model m;
  const auto path = m.path();
  const std::string wanted = load_and_complete(path);
  long n = 1;
  while (load_failing_at(path, n) && !HasFailure())
    n += n < 64 ? 1 : n / 16;
  EXPECT_GT(n, 200);
  EXPECT_EQ(load_and_complete(m.path()), wanted);
}

TEST(SlowLoadFaults, EveryAllocationMayFail) {
  const Model m;
  const auto path = m.path();
  const std::string wanted = load_and_complete(path);
  long n = 1;
  while (load_failing_at(path, n) && !HasFailure())
    ++n;
  std::printf("%ld allocations\n", n - 1);
  EXPECT_EQ(load_and_complete(m.path()), wanted);
}

TEST(LoadFaults, ARequestThatFindsNoMemoryIsAnErrorAndTheNextWorks) {
  const Model m;
  auto model = LocalModel::open(m.path(), {.threads = 1});
  ASSERT_TRUE(model);
  const auto wanted = complete(**model);
  ASSERT_TRUE(wanted);
  const Request request{.prompt = "abc"};
  int n_failed = 0;
  for (long n = 1; n < 200; ++n) {
    test::fail_allocation(n);
    std::string error;
    const auto answer = (*model)->start(request);
    if (!answer) error = answer.error().id;
    const bool has_failed = test::allocation_has_failed();
    test::fail_allocation(0);
    if (!has_failed) break;
    n_failed += error.empty() ? 0 : 1;
    const auto next = complete(**model);
    ASSERT_TRUE(next) << n;
    EXPECT_EQ(*next, *wanted);
  }
  EXPECT_GT(n_failed, 10);
}

TEST(LoadFaults, AThreadThatCannotStartIsAnErrorAndTheNextLoadWorks) {
  const Model m;
  for (const int threads : {1, 2}) {  // the engine's own thread, the team's
    const test::NoThreads refused;
    const auto model = LocalModel::open(m.path(), {.threads = threads});
    ASSERT_FALSE(model) << threads << " threads";
    EXPECT_EQ(model.error().id, "no_thread");
  }
  EXPECT_NE(load_and_complete(m.path()), "");
}

long open_files() {
  long n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++n;
  return n;
}

TEST(LoadFaults, LoadingAndUnloading200TimesGivesEverythingBack) {
  const Model m;
  const std::string wanted = load_and_complete(m.path());
  load_and_complete(m.path());
  const long files = open_files();
  const long blocks = test::live_allocations();
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(load_and_complete(m.path()), wanted);
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(test::live_allocations(), blocks);
}

}  // namespace
}  // namespace wick
