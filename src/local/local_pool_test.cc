#include "local/local_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "provider/gather.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

// Files a, b, c, d of the same size, and one that is larger; a loader that counts.
struct Fixture {
  test::TempDir dir;
  std::atomic<int> loads = 0;
  std::uint64_t bytes = 0;  // that one of them takes

  Fixture() {
    for (const char* name : {"a", "b", "c", "d"})
      write(name, {.seed = static_cast<std::uint32_t>(name[0])});
    write("large", {.n_layers = 8});
    bytes = size(**load("a"));
    loads = 0;
  }

  void write(const std::string& name, const test::TinyModel& model) const {
    test::write_tiny_model(dir.path() / (name + ".gguf"), model);
  }

  Result<LocalPool::Held> load(std::string_view name) {
    ++loads;
    auto model = LocalModel::open(dir.path() / cat(name, ".gguf"),
                                  {.threads = 1, .engine = {.max_seqs = 2}});
    if (!model) return std::move(model).error();
    return LocalPool::Held(*std::move(model));
  }

  LocalPool::Loader loader() {
    return [this](std::string_view name) { return load(name); };
  }

  static std::uint64_t size(const LocalModel& model) { return model.memory().total(); }
};

std::string names(LocalPool& pool) {
  std::string all;
  const std::vector<ModelInfo> list = *pool.models();
  for (const ModelInfo& entry : list)
    all += cat(entry.name, entry.is_pinned ? "!" : "", " ");
  return all;
}

std::string say(LocalModel& model) {
  const auto done =
      ask(model, {.prompt = "abc", .generation = {.temperature = 3, .seed = 1, .max_tokens = 9}});
  EXPECT_TRUE(done);
  return done ? done->text : std::string();
}

TEST(LocalPool, LoadsANameOnceAndUnloadsItOnce) {
  Fixture f;
  LocalPool pool({}, f.loader());
  ASSERT_TRUE(pool.get("a"));
  ASSERT_TRUE(pool.get("a"));
  EXPECT_EQ(f.loads, 1);
  EXPECT_TRUE(pool.unload("a"));
  EXPECT_FALSE(pool.unload("a"));
  ASSERT_TRUE(pool.get("a"));
  EXPECT_EQ(f.loads, 2);
}

TEST(LocalPool, ThoseWhoAskAtOnceShareOneLoadAndItsError) {
  Fixture f;
  std::atomic<int> waiting = 0;
  LocalPool pool({}, [&](std::string_view name) {
    while (waiting < 8)  // all have asked, or are about to
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return f.load(name);
  });
  for (const char* name : {"a", "absent"}) {
    waiting = 0;
    f.loads = 0;
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    std::atomic<LocalModel*> seen = nullptr;
    std::atomic<bool> is_same = true;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        ++waiting;
        const auto model = pool.get(name);
        if (!model) return;
        ++good;
        LocalModel* first = nullptr;
        if (!seen.compare_exchange_strong(first, model->get()) && first != model->get()) {
          is_same = false;
        }
      });
    }
    for (auto& thread : threads)
      thread.join();
    const bool is_there = std::string_view(name) == "a";
    EXPECT_EQ(good, is_there ? 8 : 0);
    EXPECT_TRUE(is_same);
    if (is_there) {
      EXPECT_EQ(f.loads, 1);
    }
  }
}

TEST(LocalPool, EvictsTheLongestUnusedToStayWithinItsBudget) {
  Fixture f;
  LocalPool pool({.budget_bytes = 3 * f.bytes}, f.loader());
  for (const char* name : {"a", "b", "c", "a", "d"})
    ASSERT_TRUE(pool.get(name)) << name;
  EXPECT_EQ(names(pool), "c a d ");
  std::uint64_t sum = 0;
  const std::vector<ModelInfo> list = *pool.models();
  for (const ModelInfo& entry : list)
    sum += entry.memory.total();
  EXPECT_LE(sum, 3 * f.bytes);
}

TEST(LocalPool, NeverEvictsWhatIsPinnedOrUsed) {
  Fixture f;
  LocalPool pool({.max_models = 3}, f.loader());
  ASSERT_TRUE(pool.get("a"));
  EXPECT_TRUE(pool.pin("a", true));
  EXPECT_FALSE(pool.pin("d", true));
  auto used = pool.get("b");
  ASSERT_TRUE(used);
  ASSERT_TRUE(pool.get("c"));
  ASSERT_TRUE(pool.get("d"));
  EXPECT_EQ(names(pool), "a! b d ");
  auto also_used = pool.get("d");
  const auto refused = pool.get("c");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "pool_full");
  EXPECT_EQ(names(pool), "a! b d ");
  used = Error{};  // let go
  EXPECT_TRUE(pool.get("c"));
}

TEST(LocalPool, RefusesWhatDoesNotFitWithTheNumbersAndEvictsNothingForIt) {
  Fixture f;
  const std::uint64_t large = Fixture::size(**f.load("large"));
  LocalPool pool({.budget_bytes = large - 1}, f.loader());
  ASSERT_TRUE(pool.get("a"));
  const auto refused = pool.get("large");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find(human_bytes(large)), std::string::npos);
  EXPECT_EQ(names(pool), "a ");
}

TEST(LocalPool, AnUnloadedModelThatIsUsedStillCounts) {
  Fixture f;
  LocalPool pool({.budget_bytes = f.bytes}, f.loader());
  auto used = pool.get("a");
  ASSERT_TRUE(used);
  EXPECT_TRUE(pool.unload("a"));
  EXPECT_FALSE(pool.get("b"));
  used = Error{};
  EXPECT_TRUE(pool.get("b"));
}

TEST(LocalPool, AnswersEndOnTheModelTheyBeganWithWhenItIsReplaced) {
  Fixture f;
  LocalPool pool({}, f.loader());
  const std::string of_a = say(**f.load("a")), of_b = say(**f.load("b"));
  ASSERT_NE(of_a, of_b);
  auto held = *pool.get("a");
  const auto running =
      held->start({.prompt = "abc", .generation = {.temperature = 3, .seed = 1, .max_tokens = 9}});
  ASSERT_TRUE(running);
  ASSERT_TRUE(pool.pin("a", true));
  ASSERT_TRUE(pool.replace("a", "b"));
  EXPECT_EQ(say(**pool.get("a")), of_b);
  EXPECT_EQ(read_all(**running).completion.text, of_a);
  EXPECT_EQ(names(pool), "a! ");
  EXPECT_FALSE(pool.replace("a", "absent"));
  EXPECT_EQ(say(**pool.get("a")), of_b);
}

class MovedClock final : public Clock {
 public:
  std::int64_t now_ns() const noexcept override { return ms * 1'000'000; }

  std::int64_t ms = 1000;
};

TEST(LocalPool, UnloadsWhatNobodyUsedForItsTime) {
  Fixture f;
  MovedClock clock;
  LocalPool pool({.keep_ms = 500, .clock = &clock}, f.loader());
  for (const char* name : {"a", "b", "c", "d"})
    ASSERT_TRUE(pool.get(name)) << name;
  ASSERT_TRUE(pool.keep("b", -1));
  ASSERT_TRUE(pool.pin("c", true));
  auto used = pool.get("d");
  clock.ms += 499;
  EXPECT_EQ(pool.unload_idle(), 0);
  EXPECT_EQ(pool.statistics("a")->ms_to_unload, 1);
  EXPECT_EQ(pool.statistics("b")->ms_to_unload, -1);
  EXPECT_EQ(pool.statistics("d")->ms_to_unload, 500);
  clock.ms += 1;
  EXPECT_EQ(pool.unload_idle(), 1);
  EXPECT_EQ(names(pool), "b c! d ");
  used = Error{};
  clock.ms += 499;
  EXPECT_EQ(pool.unload_idle(), 0) << "its time begins when its use ends";
  ASSERT_TRUE(pool.keep("d", 0));
  EXPECT_EQ(pool.unload_idle(), 1);
  EXPECT_EQ(names(pool), "b c! ");
}

TEST(LocalPool, ALookIsNoUseAndLoadsNothing) {
  Fixture f;
  LocalPool pool({.max_models = 2}, f.loader());
  ASSERT_TRUE(pool.get("a"));
  ASSERT_TRUE(pool.get("b"));
  EXPECT_TRUE(pool.statistics("a"));
  EXPECT_NE(pool.find("a"), nullptr);
  EXPECT_EQ(pool.find("c"), nullptr);
  EXPECT_EQ(pool.statistics("c").error().id, "model_not_loaded");
  EXPECT_EQ(f.loads, 2);
  ASSERT_TRUE(pool.get("c"));
  EXPECT_EQ(names(pool), "b c ");
}

TEST(LocalPool, BeyondItsTargetTheUnusedGoAndNothingIsRefused) {
  Fixture f;
  LocalPool pool({.target_bytes = 2 * f.bytes}, f.loader());
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(pool.get(name)) << name;
  EXPECT_EQ(names(pool), "b c ");
  ASSERT_TRUE(pool.get("large"));
  EXPECT_EQ(names(pool), "large ");
  const auto used = pool.get("large");
  EXPECT_TRUE(pool.get("a"));
  EXPECT_EQ(names(pool), "large a ");
}

TEST(LocalPool, ManyThreadsMayLoadUseReplaceAndUnload) {
  Fixture f;
  LocalPool pool({.budget_bytes = 3 * f.bytes}, f.loader());
  std::vector<std::thread> threads;
  std::atomic<int> answers = 0;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 25; ++i) {
        const std::string name(1, static_cast<char>('a' + (i * 7 + t) % 4));
        if (i % 5 == 0) static_cast<void>(pool.unload(name));
        const auto model = i % 9 == 0 ? pool.put(name, "b") : pool.get(name);
        if (!model) {
          EXPECT_EQ(model.error().id, "pool_full");
          continue;
        }
        EXPECT_FALSE(say(**model).empty());
        ++answers;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_GT(answers, 25);
}

}  // namespace
}  // namespace wick
