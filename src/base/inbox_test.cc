#include "base/inbox.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ring.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

struct Item {
  int producer = 0, number = 0;
  Item* inbox_next = nullptr;
};

std::unique_ptr<Item> item(int producer, int number) {
  return std::make_unique<Item>(Item{producer, number});
}

TEST(Inbox, KeepsEachProducersOrderAndLosesNothing) {
  constexpr int kProducers = 3, kItems = 2000;
  Inbox<Item> inbox;
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&inbox, p] {
      for (int i = 0; i < kItems; ++i)
        inbox.push(item(p, i));
    });
  }
  std::array<int, kProducers> seen = {};
  for (int total = 0; total < kProducers * kItems;) {
    Item* list = inbox.take_all();
    if (list == nullptr) inbox.wait();
    while (list != nullptr) {
      const std::unique_ptr<Item> taken(list);
      ASSERT_EQ(taken->number, seen[static_cast<std::size_t>(taken->producer)]++);
      list = taken->inbox_next;
      ++total;
    }
  }
  for (auto& producer : producers)
    producer.join();
}

TEST(Inbox, AWakeBeforeTheWaitIsNotLostAndATimedWaitEnds) {
  Inbox<Item> inbox;
  inbox.wake();
  inbox.wake();
  inbox.wait();               // both were one
  inbox.wait_for(1'000'000);  // nobody wakes: ends by itself
  inbox.push(item(0, 1));
  inbox.wait_for(3'600'000'000'000);
  EXPECT_FALSE(inbox.is_empty());
  const std::unique_ptr<Item> taken(inbox.take_all());
}

TEST(Inbox, TakesWhatComesWithoutABoundAndFreesWhatNobodyTook) {
  static_assert(std::is_void_v<decltype(std::declval<Inbox<Item>&>().push(item(0, 0)))>,
                "nothing can be refused, so there is no answer that somebody could pass over");
  constexpr int kMany = 100'000;
  const long before = test::live_allocations();
  {
    Inbox<Item> inbox;
    for (int i = 0; i < kMany; ++i)
      inbox.push(item(0, i));
    EXPECT_EQ(test::live_allocations(), before + kMany);
  }
  EXPECT_EQ(test::live_allocations(), before);
}

TEST(ByteRing, CarriesEveryByteInOrderThroughASmallRing) {
  ByteRing ring(7);
  std::string wanted;
  for (int i = 0; i < 5000; ++i)
    wanted += static_cast<char>('a' + i % 26);
  std::thread writer([&] {
    for (std::size_t at = 0; at < wanted.size();) {
      const std::size_t n = std::min<std::size_t>(1 + at % 6, wanted.size() - at);
      if (ring.write(std::string_view(wanted).substr(at, n))) at += n;
    }
    ring.close();
  });
  std::string seen;
  while (ring.read(seen))
    std::this_thread::yield();
  writer.join();
  EXPECT_EQ(seen, wanted);
}

TEST(ByteRing, AFullRingTakesNothingOfAPiece) {
  ByteRing ring(4);
  EXPECT_TRUE(ring.write("abc"));
  EXPECT_FALSE(ring.write("de"));
  std::string out;
  EXPECT_TRUE(ring.read(out));
  EXPECT_EQ(out, "abc");
  EXPECT_FALSE(ring.write("fghij"));
}

}  // namespace
}  // namespace wick
