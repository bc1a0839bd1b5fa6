#include "base/inbox.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "base/ring.h"

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
  Inbox<Item> inbox(kProducers * kItems);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&inbox, p] {
      for (int i = 0; i < kItems; ++i) {
        auto next = item(p, i);
        while (!inbox.push(next))
          std::this_thread::yield();
      }
    });
  }
  std::array<int, kProducers> seen = {};
  for (int total = 0; total < kProducers * kItems;) {
    const std::uint32_t signal = inbox.signal();
    Item* list = inbox.take_all();
    if (list == nullptr) inbox.wait(signal);
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

TEST(Inbox, RefusesWhatExceedsItsCapacityAndFreesTheRest) {
  Inbox<Item> inbox(2);
  auto a = item(0, 0), b = item(0, 1), c = item(0, 2);
  EXPECT_TRUE(inbox.push(a));
  EXPECT_TRUE(inbox.push(b));
  EXPECT_FALSE(inbox.push(c));
  EXPECT_NE(c, nullptr);  // still the caller's
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
  do
    ring.wait();
  while (ring.read(seen));
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
