#include "local/logprob_log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/ring.h"

namespace wick {
namespace {

TEST(LogprobLog, GivesWhatCameWithTheTextThatWasReadAndNothingTwice) {
  LogprobLog log;
  log.reserve(4, 2);
  const std::vector<IdLogprob> a = {{1, -1}, {2, -2}}, b = {{3, -3}, {4, -4}, {5, -5}, {6, -6}};
  log.add(a, 3);
  log.add({}, 4);
  log.add(b, 9);
  log.add(a, LogprobLog::kEnd);
  EXPECT_TRUE(log.take(2).empty());
  ASSERT_EQ(log.take(8).size(), 2U);
  const auto second = log.take(9);
  ASSERT_EQ(second.size(), 4U);
  EXPECT_EQ(second[0].id, 3);
  EXPECT_TRUE(log.take(9).empty());
  EXPECT_EQ(log.take(LogprobLog::kEnd).size(), 2U);
  EXPECT_TRUE(log.take(LogprobLog::kEnd).empty());
}

// Text is the tokens' numbers modulo 26, one letter each, in pieces of 1 to 5 through a ring that
// holds 7.
TEST(LogprobLog, AReaderHasATextsTokensAsSoonAsTheTextWhateverTheirPaces) {
  constexpr int kTokens = 20'000;
  LogprobLog log;
  log.reserve(kTokens, 1);
  ByteRing ring(7);
  std::thread writer([&] {
    std::vector<IdLogprob> logprobs;
    std::string text;
    for (TokenId id = 0; id < kTokens; id += static_cast<TokenId>(logprobs.size())) {
      logprobs.clear();
      text.clear();
      for (TokenId i = id; i < kTokens && i <= id + id % 5; ++i) {
        logprobs.push_back({.id = i});
        text += static_cast<char>('a' + i % 26);
      }
      while (!ring.has_room(text.size()))
        std::this_thread::yield();
      log.add(logprobs, static_cast<std::uint64_t>(id) + text.size());
      ASSERT_TRUE(ring.write(text));
    }
    ring.close();
  });
  std::string text;
  std::size_t n = 0;
  for (bool has_more = true; has_more;) {
    has_more = ring.read(text);
    for (const IdLogprob& score : log.take(text.size()))
      ASSERT_EQ(score.id, static_cast<TokenId>(n++));
    ASSERT_EQ(n, text.size());
  }
  writer.join();
  EXPECT_EQ(n, std::size_t{kTokens});
}

}  // namespace
}  // namespace wick
