// Many streams, one thread that waits for all of them at one file descriptor.
#include "wick/stream_set.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "library/library_fixture_test.h"

namespace wick {
namespace {

void wait_for(const StreamSet& set) {
  pollfd watched{.fd = set.fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&watched, 1, 20'000), 1);
}

// Reads all of them to the end by `read`, which is called for each that has more.
template <class Read>
void read_all(StreamSet& set, std::vector<Stream>& streams, const Read& read) {
  const auto is_on_its_way = [](const Stream& s) { return !s.is_over(); };
  while (std::any_of(streams.begin(), streams.end(), is_on_its_way)) {
    ASSERT_NO_FATAL_FAILURE(wait_for(set));
    set.take([&](std::uint64_t key) { read(key); });
  }
}

TEST(StreamSet, OneLoopReadsManyAndEachSaysWhatItSaysAlone) {
  const Fixture f({.context = 1024}, {.max_concurrent = 3});
  auto set = *StreamSet::create();
  std::vector<Stream> streams;
  std::vector<std::vector<TokenLogprob>> logprobs(12);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Generation g = noise(seed, 30);
    g.wake = *set.add(seed);
    g.logprobs = true;
    streams.push_back(*f.model->stream("Once", g));
  }
  read_all(set, streams, [&](std::uint64_t key) {
    for (bool has_more = true; has_more;) {
      has_more = streams[key].poll().has_value();
      if (!has_more && !streams[key].is_over()) break;
      const auto now = streams[key].logprobs();
      logprobs[key].insert(logprobs[key].end(), now.begin(), now.end());
    }
  });
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Generation g = noise(seed, 30);
    g.logprobs = true;
    const Completion alone = *f.model->complete("Once", g);
    const Completion together = *streams[seed].finish();
    EXPECT_EQ(together.text, alone.text);
    EXPECT_EQ(streams[seed].text(), alone.text);
    ASSERT_EQ(logprobs[seed].size(), alone.logprobs.size()) << seed;
    for (std::size_t i = 0; i < alone.logprobs.size(); ++i)
      EXPECT_EQ(logprobs[seed][i].id, alone.logprobs[i].id);
  }
}

TEST(StreamSet, EventsArePolledTooAndAQueueHasItsLimit) {
  const Fixture f({.context = 1024}, {.max_concurrent = 1, .max_queue = 2});
  auto set = *StreamSet::create();
  std::vector<Stream> streams;
  std::string refused;
  for (std::uint64_t seed = 0; refused.empty() && seed < 100; ++seed) {
    Generation g = noise(seed, 500);
    g.wake = *set.add(seed);
    auto stream = f.model->stream("Once", g);
    if (stream) {
      streams.push_back(*std::move(stream));
    } else {
      refused = stream.error().id;
    }
  }
  EXPECT_EQ(refused, "queue_full");
  int n_done = 0;
  for (Stream& stream : streams)
    stream.cancel();
  read_all(set, streams, [&](std::uint64_t key) {
    while (const auto event = streams[key].poll_event())
      n_done += std::holds_alternative<DoneEvent>(*event) ? 1 : 0;
  });
  EXPECT_EQ(n_done, static_cast<int>(streams.size()));
}

// Sets nothing aside: what a visit did not come to is there at the next take().
TEST(StreamSet, AVisitThatThrowsLosesNoStream) {
  const Fixture f({.context = 1024}, {.max_concurrent = 4});
  auto set = *StreamSet::create();
  std::vector<Stream> streams;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Generation g = noise(seed, 20);
    g.wake = *set.add(seed);
    streams.push_back(*f.model->stream("Once", g));
  }
  for (Stream& stream : streams)  // each has set its wake by then
    ASSERT_TRUE(stream.finish());
  std::vector<std::uint64_t> seen;
  EXPECT_THROW(set.take([&](std::uint64_t key) {
    seen.push_back(key);
    if (seen.size() == 2) throw std::runtime_error("enough");
  }),
               std::runtime_error);
  ASSERT_EQ(seen.size(), 2U);
  const std::uint64_t thrown_at = seen.back();
  seen.pop_back();
  ASSERT_NO_FATAL_FAILURE(wait_for(set));
  const std::size_t n_before = seen.size();
  set.take([&](std::uint64_t key) { seen.push_back(key); });
  ASSERT_GT(seen.size(), n_before);
  EXPECT_EQ(seen[n_before], thrown_at);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace wick
