#include "base/poller.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace wick {
namespace {

struct Called final : Pollable {
  void on_ready(int fd, std::uint32_t events) override {
    calls.push_back({fd, events});
    if (const auto call = std::exchange(then, {})) call(fd);
  }

  std::vector<std::pair<int, std::uint32_t>> calls;
  std::function<void(int)> then = {};
};

int ready_descriptor() {
  return ::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
}

TEST(Poller, ReportsADescriptorAsLongAsItIsReady) {
  const auto poller = *Poller::create();
  const int fd = ready_descriptor();
  Called called;
  ASSERT_TRUE(poller->watch(fd, EPOLLIN, called));
  int n_behind = 0, n_woke = 0;
  for (int i = 0; i < 3; ++i)
    poller->wait(
        -1, [&] { ++n_behind; }, [&] { ++n_woke; });
  EXPECT_EQ(called.calls.size(), 3U);
  EXPECT_EQ(called.calls.front().second, std::uint32_t{EPOLLIN});
  EXPECT_EQ(n_behind, 3);
  EXPECT_EQ(n_woke, 3);
  std::uint64_t count = 0;
  ASSERT_EQ(::read(fd, &count, sizeof(count)), 8);
  poller->wait(0, {});
  EXPECT_EQ(called.calls.size(), 3U);
  ASSERT_TRUE(poller->watch(fd, EPOLLOUT, called));
  poller->wait(0, {});
  EXPECT_EQ(called.calls.back().second, std::uint32_t{EPOLLOUT});
  poller->forget(fd);
  poller->wait(0, {});
  EXPECT_EQ(called.calls.size(), 4U);
  ::close(fd);
}

// Both are ready; the first to be called closes the other, and the number gets a new owner.
TEST(Poller, AnEventIsNotThatOfTheNextDescriptorOfThisNumber) {
  const auto poller = *Poller::create();
  const int fds[2] = {ready_descriptor(), ready_descriptor()};
  Called old, next;
  old.then = [&](int called) {
    const int other = called == fds[0] ? fds[1] : fds[0];
    poller->forget(other);
    ::close(other);
    ASSERT_EQ(ready_descriptor(), other);
    ASSERT_TRUE(poller->watch(other, EPOLLIN, next));
  };
  for (const int fd : fds)
    ASSERT_TRUE(poller->watch(fd, EPOLLIN, old));
  poller->wait(-1, {});
  EXPECT_EQ(old.calls.size(), 1U);
  EXPECT_EQ(next.calls.size(), 0U);
  poller->wait(-1, {});
  EXPECT_EQ(next.calls.size(), 1U);
  for (const int fd : fds)
    ::close(fd);
}

TEST(Poller, ADescriptorMayBeClosedWithoutAWord) {
  const auto poller = *Poller::create();
  Called called;
  const int fd = ready_descriptor();
  ASSERT_TRUE(poller->watch(fd, EPOLLIN, called));
  ::close(fd);
  ASSERT_EQ(ready_descriptor(), fd);
  ASSERT_TRUE(poller->watch(fd, EPOLLIN | EPOLLOUT, called));
  poller->wait(-1, {});
  EXPECT_EQ(called.calls.size(), 1U);
  ::close(fd);
  EXPECT_FALSE(poller->watch(fd, EPOLLIN, called));
}

}  // namespace
}  // namespace wick
