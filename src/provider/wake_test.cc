#include "base/wake.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/hot_scope.h"
#include "provider/gather.h"
#include "support/hot_counters.h"
#include "support/scripted_provider.h"
#include "support/thread_count.h"

namespace wick {
namespace {

bool is_readable(int fd, int timeout_ms = 0) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

std::vector<std::uint64_t> taken(WakeSet& set) {
  std::vector<std::uint64_t> keys;
  set.take([&](std::uint64_t key) { keys.push_back(key); });
  return keys;
}

TEST(Wake, ManySetsAreOneVisitAndOneReadableDescriptor) {
  const auto set = *WakeSet::create();
  const auto a = set->add(1), b = set->add(2), c = set->add(3);
  EXPECT_FALSE(is_readable(set->fd()));
  b->set();
  a->set();
  b->set();
  EXPECT_TRUE(is_readable(set->fd()));
  EXPECT_EQ(taken(*set), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_FALSE(is_readable(set->fd()));
  EXPECT_TRUE(taken(*set).empty());
  b->set();
  EXPECT_TRUE(is_readable(set->fd()));
  EXPECT_EQ(taken(*set), (std::vector<std::uint64_t>{2}));
}

TEST(Wake, MayOutliveItsSetAndItsReader) {
  auto set = *WakeSet::create();
  std::shared_ptr<Wake> left = set->add(1);
  set->add(2)->set();  // its reader is gone before it is taken
  left->set();
  EXPECT_EQ(taken(*set), (std::vector<std::uint64_t>{2, 1}));
  left->set();
  const std::weak_ptr<Wake> watched = left;
  set.reset();
  left->set();
  left.reset();
  EXPECT_TRUE(watched.expired()) << "a Wake that nobody took holds itself";
}

TEST(Wake, ASetThatIsOnItsWayIsNeverLost) {
  const auto set = *WakeSet::create();
  constexpr int kSets = 20'000;
  std::vector<std::shared_ptr<Wake>> wakes;
  std::vector<std::atomic<int>> made(8);
  for (std::uint64_t i = 0; i < made.size(); ++i)
    wakes.push_back(set->add(i));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kSets; ++n) {
        const std::size_t i = 4 * t + static_cast<std::size_t>(n) % 4;
        made[i].fetch_add(1, std::memory_order_relaxed);
        wakes[i]->set();
      }
    });
  }
  std::map<std::uint64_t, int> seen;
  for (int sum = 0; sum < 2 * kSets;) {
    ASSERT_TRUE(is_readable(set->fd(), 10'000)) << sum;
    const auto see = [&](std::uint64_t key) {
      seen[key] = made[key].load(std::memory_order_relaxed);
    };
    set->take(see);
    {
      const WakeSet::Attention attention(*set);
      set->take(see);
    }
    sum = 0;
    for (const auto& [key, n] : seen)
      sum += n;
  }
  for (auto& thread : threads)
    thread.join();
}

TEST(Wake, NoDescriptorIsWrittenWhileTheReaderAttends) {
  const auto set = *WakeSet::create();
  const auto a = set->add(1), b = set->add(2);
  {
    const WakeSet::Attention attention(*set);
    a->set();
    EXPECT_FALSE(is_readable(set->fd()));
    EXPECT_EQ(taken(*set), (std::vector<std::uint64_t>{1}));
    b->set();
    EXPECT_FALSE(is_readable(set->fd()));
  }
  EXPECT_TRUE(is_readable(set->fd())) << "what was left";
  EXPECT_EQ(taken(*set), (std::vector<std::uint64_t>{2}));
  EXPECT_FALSE(is_readable(set->fd()));
}

TEST(HotPathWake, SettingItTouchesNeitherHeapNorLock) {
  const auto set = *WakeSet::create();
  const auto listed = set->add(1);
  const auto alone = std::make_shared<Wake>();
  test::reset_hot_counts();
  {
    const HotScope hot;
    for (int i = 0; i < 100; ++i) {
      listed->set();
      alone->set();
    }
  }
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().frees, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
}

TEST(Wake, TenThousandAnswersAreReadByOneThread) {
  constexpr std::size_t kAnswers = 10'000;
  test::ScriptedProvider provider(test::remote_script("fragments"));
  const Completion wanted = *ask(provider, {.prompt = "x"});
  const auto set = *WakeSet::create();
  const int threads_before = test::thread_count();
  const std::size_t bytes_before = ::mallinfo2().uordblks;
  std::vector<std::unique_ptr<Answer>> answers(kAnswers);
  std::vector<Gather> wholes(kAnswers);
  for (std::size_t i = 0; i < kAnswers; ++i)
    answers[i] = *provider.start({.prompt = "x"}, set->add(i));
  const std::size_t bytes = (::mallinfo2().uordblks - bytes_before) / kAnswers;
  EXPECT_EQ(test::thread_count(), threads_before);
  std::vector<bool> is_open(kAnswers, true);
  std::size_t n_over = 0;
  while (n_over < kAnswers) {
    ASSERT_TRUE(is_readable(set->fd(), 30'000)) << n_over;
    set->take([&](std::uint64_t key) {
      while (const auto event = answers[key]->poll())
        wholes[key].add(*event);
      if (is_open[key] && answers[key]->is_over()) {
        is_open[key] = false;
        ++n_over;
      }
    });
  }
  for (const Gather& whole : wholes) {
    ASSERT_EQ(whole.completion.text, wanted.text);
    ASSERT_EQ(whole.completion.reasoning, wanted.reasoning);
    ASSERT_EQ(whole.completion.tool_calls.at(1).arguments, wanted.tool_calls.at(1).arguments);
    ASSERT_EQ(whole.completion.finish, FinishReason::kToolCalls);
  }
  RecordProperty("bytes_per_answer", static_cast<int>(bytes));
  std::printf("%zu answers open at once: %zu bytes each with its script and request\n", kAnswers,
              bytes);
}

}  // namespace
}  // namespace wick
