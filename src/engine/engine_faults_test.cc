// What breaks outside the engine ends requests, never the engine: a typed error, what was said
// stands, the next request works. And what many threads do to it at once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "engine/engine_fixture_test.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

TEST(EngineFaults, AFailedPassEndsWhoWasInItAndKeepsWhatTheySaid) {
  const EngineOptions options{.max_seqs = 2, .context = 256};
  Fixture reference(options);
  const auto alone = reference.submit(request(40, 1, 20));
  reference.finish();
  const auto waits_alone = Fixture(options).alone(request(30, 3, 20));
  for (int steps = 0; steps < 20; ++steps) {
    Fixture f(options, 1, 16);
    const auto first = f.submit(request(40, 1, 20)), second = f.submit(request(50, 2, 20));
    const auto waits = f.submit(request(30, 3, 20));
    for (int i = 0; i < steps; ++i)
      f.engine->step();
    f.device->fails_sync = 1;
    f.finish();
    ASSERT_TRUE(first->last && second->last && waits->last) << steps;
    int n_failed = 0;
    for (const auto& reader : {first, second}) {
      if (reader->last->finish != FinishReason::kError) continue;
      ++n_failed;
      EXPECT_EQ(reader->error, "device_lost");
    }
    EXPECT_GE(n_failed, 1) << steps;
    ASSERT_LE(first->tokens.size(), alone->tokens.size());
    EXPECT_TRUE(std::equal(first->tokens.begin(), first->tokens.end(), alone->tokens.begin()));
    EXPECT_EQ(waits->text, waits_alone) << steps;
    EXPECT_EQ(f.alone(request(40, 1, 20)), alone->text) << "the same prompt, after " << steps;
  }
}

TEST(EngineFaults, ADeviceThatStaysLostFailsEveryRequestUntilItIsBack) {
  Fixture f;
  const auto wanted = Fixture().alone(request(10, 1, 5));
  f.device->fails_sync = 1 << 30;
  for (int i = 0; i < 3; ++i) {
    const auto reader = f.submit(request(10, 1, 5));
    f.finish();
    EXPECT_EQ(reader->error, "device_lost");
  }
  f.device->fails_sync = 0;
  EXPECT_EQ(f.alone(request(10, 1, 5)), wanted);
}

TEST(EngineFaults, ADeviceLostInMidPassFailsThePassOnAllOfThem) {
  const auto wanted = Fixture().alone(request(40, 1, 5));
  for (const auto& parts : test::all_cuts(2)) {
    SCOPED_TRACE(test::to_string(parts));
    for (int steps = 0; steps < 5; ++steps) {
      Fixture f({}, 1, 16, {}, parts);
      const auto reader = f.submit(request(40, 1, 5));
      for (int i = 0; i < steps; ++i)
        f.engine->step();
      f.device->fails_sync = 1;
      f.finish();
      EXPECT_EQ(reader->error, "device_lost");
      EXPECT_EQ(reader->tokens.size(), static_cast<std::size_t>(std::max(0, steps - 2)));
      EXPECT_EQ(f.alone(request(40, 1, 5)), wanted);
    }
  }
}

TEST(EngineFaults, LogitsThatAreNoNumbersEndTheAnswerAsAnError) {
  Fixture f;
  const auto wanted = Fixture().alone(request(10, 1, 5));
  const auto reader = f.submit(request(10, 1, 5));
  f.engine->step();
  f.device->spoils_logits = true;
  f.finish();
  EXPECT_EQ(reader->error, "no_token");
  EXPECT_EQ(reader->tokens.size(), 1U);
  f.device->spoils_logits = false;
  EXPECT_EQ(f.alone(request(10, 1, 5)), wanted);
}

// The error named the model's file, whoever had banned the tokens.
TEST(EngineFaults, ARequestThatBansAllTokensIsTheRequestsFault) {
  Fixture f;
  auto banned = request(10, 1, 5);
  const TokenId n_vocab = (*Tokenizer::from(f.file->metadata()))->size();
  for (TokenId id = 0; id < n_vocab; ++id)
    banned.sampling.logit_bias.push_back({id, -std::numeric_limits<float>::infinity()});
  const auto reader = f.submit(banned);
  f.finish();
  EXPECT_EQ(reader->error, "banned_all");
  EXPECT_EQ(f.alone(request(10, 1, 5)), Fixture().alone(request(10, 1, 5)));
}

TEST(EngineFaults, AFailedPassLeavesNothingInThePrefixCache) {
  Fixture f;
  f.device->spoils_logits = true;
  const auto failed = f.submit(request(40, 1, 5));
  f.finish();
  ASSERT_EQ(failed->error, "no_token");
  f.device->spoils_logits = false;
  const auto again = f.submit(request(40, 1, 5));
  f.finish();
  ASSERT_TRUE(again->last);
  EXPECT_EQ(again->last->usage.cached_tokens, 0);
}

TEST(EngineFaults, WholeBlocksOfThePassesBeforeAFailedOneStay) {
  const auto wanted = Fixture().alone(request(40, 1, 5));
  for (const bool loses_device : {true, false}) {
    for (int steps = 0; steps < 6; ++steps) {  // three passes of the prompt, then one token each
      Fixture f({}, 1, 16);
      const auto failed = f.submit(request(40, 1, 5));
      for (int i = 0; i < steps; ++i)
        f.engine->step();
      f.device->fails_sync = loses_device ? 1 : 0;
      f.device->spoils_logits = !loses_device;
      f.finish();
      EXPECT_EQ(failed->error, loses_device ? "device_lost" : "no_token");
      f.device->spoils_logits = false;
      const auto again = f.submit(request(40, 1, 5));
      f.finish();
      ASSERT_TRUE(again->last);
      // Without a row of logits a pass of the prompt is not known to be bad.
      EXPECT_EQ(again->last->usage.cached_tokens, loses_device ? std::min(16 * steps, 32) : 32);
      EXPECT_EQ(again->text, wanted) << "after " << steps;
    }
  }
}

TEST(EngineFaults, ARequestForWhichTheEngineFindsNoMemoryFailsAlone) {
  const auto wanted = Fixture().alone(request(10, 1, 5));
  for (long n = 1; n < 4; ++n) {
    Fixture f;
    const auto reader = f.submit(request(10, 1, 5));
    test::fail_allocation(n);
    f.engine->step();
    const bool has_failed = test::allocation_has_failed();
    test::fail_allocation(0);
    f.finish();
    ASSERT_TRUE(has_failed) << n;
    EXPECT_EQ(reader->error, "out_of_memory") << n;
    EXPECT_EQ(f.alone(request(10, 1, 5)), wanted) << n;
  }
}

// Blocks run out whatever the requests do: nobody fails, everybody says what he says alone.
TEST(EngineFaults, ACacheThatIsTooSmallForAllMakesThemWaitNotFail) {
  const std::uint64_t bytes = std::uint64_t{9} * 16 * 2 * 2 * 16 * 2;  // one context and a block
  Fixture f({.max_seqs = 6, .context = 128, .kv_limit_bytes = bytes});
  std::vector<std::shared_ptr<Reader>> readers;
  for (int i = 0; i < 12; ++i)
    readers.push_back(f.submit(request(20 + 3 * i, i, 60)));
  f.finish();
  int preemptions = 0;
  for (int i = 0; i < 12; ++i) {
    const Reader& reader = *readers[static_cast<std::size_t>(i)];
    ASSERT_TRUE(reader.last);
    EXPECT_EQ(reader.last->finish, FinishReason::kLength);
    EXPECT_EQ(reader.text, Fixture({.context = 128}).alone(request(20 + 3 * i, i, 60)));
    preemptions += reader.last->usage.preemptions;
  }
  EXPECT_GT(preemptions, 0);
}

struct Taker final : DeltaSink {  // reads nothing, waits for the end
  std::atomic<bool> is_over = false;

  bool offer(const TextDelta& delta) noexcept override {
    if (delta.finish != FinishReason::kNone) is_over = true;
    return true;
  }
};

void submit_and_cancel(Engine& engine, int thread, int count, std::atomic<int>& n_refused) {
  std::mt19937 random(static_cast<std::uint32_t>(thread));
  std::vector<std::shared_ptr<Taker>> open;
  for (int i = 0; i < count; ++i) {
    auto taker = std::make_shared<Taker>();
    GenerateRequest r = request(1 + static_cast<int>(random() % 20), i % 7, 1 + i % 3);
    r.tenant = static_cast<std::uint64_t>(thread % 3);
    r.priority = static_cast<int>(random() % 5) - 2;
    r.sink = taker;
    auto id = engine.submit(r);
    for (; !id; id = engine.submit(r)) {
      ASSERT_EQ(id.error().id, "queue_full");
      ++n_refused;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (random() % 2 == 0) engine.cancel(*id);
    open.push_back(std::move(taker));
  }
  for (const auto& taker : open) {
    while (!taker->is_over)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void hammer(int per_thread) {
  Fixture f({.max_seqs = 8, .context = 64}, 2);
  std::jthread engine([&](const std::stop_token& stop) { f.engine->run(stop); });
  std::atomic<int> n_refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] { submit_and_cancel(*f.engine, i, per_thread, n_refused); });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%d requests, %d refusals by the full queue\n", 16 * per_thread, n_refused.load());
}

TEST(EngineThreads, EndEveryRequestThatSixteenThreadsSubmitAndCancel) {
  hammer(200);
}

TEST(SlowEngineThreads, EndEveryRequestThatSixteenThreadsSubmitAndCancel) {
  hammer(6250);
}

long resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) return 0;
  std::fclose(file);
  return resident * ::sysconf(_SC_PAGESIZE);
}

// 100,000 tokens of mixed traffic after a warm-up: what is allocated stays, and so does the memory
// in use (1 MB per 10,000 tokens would be 10 MB).
TEST(SlowEngineTraffic, KeepsItsMemory) {
  Fixture f({.max_seqs = 6, .context = 256, .kv_limit_bytes = 400'000}, 1);
  int made = 0, n_tokens = 0;
  const auto serve = [&](int tokens) {
    for (n_tokens = 0; n_tokens < tokens;) {
      std::vector<std::shared_ptr<Reader>> readers;
      for (int i = 0; i < 20; ++i, ++made) {
        GenerateRequest r = request(5 + made * 7 % 90, made % 23, 20 + made % 30);
        r.tenant = static_cast<std::uint64_t>(made % 4);
        RequestId id = 0;
        readers.push_back(f.submit(std::move(r), &id));
        if (made % 5 == 0) f.engine->cancel(id);
        f.engine->step();
      }
      f.finish();
      for (const auto& reader : readers)
        n_tokens += static_cast<int>(reader->tokens.size());
    }
  };
  serve(20'000);
  const long blocks = test::live_allocations(), bytes = resident_bytes();
  serve(100'000);
  std::printf("%d tokens: %ld allocations, %ld bytes more\n", n_tokens,
              test::live_allocations() - blocks, resident_bytes() - bytes);
  EXPECT_LE(test::live_allocations() - blocks, 4);  // a list that has grown
  EXPECT_LE(resident_bytes() - bytes, 1 << 20);
}

}  // namespace
}  // namespace wick
