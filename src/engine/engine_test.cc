#include "engine/engine.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "engine/engine_fixture_test.h"
#include "engine/limits.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

TEST(Engine, AnswersWithMaxTokensAndCountsThem) {
  Fixture f;
  const auto reader = f.submit(request(5, 1, 7));
  f.finish();
  ASSERT_TRUE(reader->last);
  EXPECT_EQ(reader->last->finish, FinishReason::kLength);
  EXPECT_EQ(reader->last->usage.prompt_tokens, 5);
  EXPECT_EQ(reader->last->usage.generated_tokens, 7);
}

TEST(Engine, WithoutMaxTokensGoesToTheContextsEnd) {
  Fixture f({.context = 48});
  const auto reader = f.submit(request(8, 1, 0));
  f.finish();
  ASSERT_TRUE(reader->last);
  EXPECT_EQ(reader->last->finish, FinishReason::kLength);
  EXPECT_EQ(reader->last->usage.generated_tokens, 40);
}

TEST(Engine, RefusesWhatDoesNotFitWithTheNumbers) {
  Fixture f({.context = 64});
  GenerateRequest r = request(60, 1, 8);
  r.sink = std::make_shared<Reader>();
  const auto result = f.engine->submit(std::move(r));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().id, "context_length_exceeded");
  EXPECT_EQ(result.error().message, "prompt 60 + max 8 > context 64 tokens");
}

TEST(Engine, RefusesEmptyPromptsForeignTokensAndBadSampling) {
  Fixture f;
  const auto refused = [&](GenerateRequest r) {
    r.sink = std::make_shared<Reader>();
    auto result = f.engine->submit(std::move(r));
    return result ? std::string() : result.error().id;
  };
  EXPECT_EQ(refused({}), "empty_prompt");
  EXPECT_EQ(refused({.prompt = {1, -1}}), "bad_token");
  EXPECT_EQ(refused({.prompt = {test::kTinyVocab}}), "bad_token");
  EXPECT_EQ(refused({.prompt = {1}, .sampling = {.top_p = 2}}), "sampling_out_of_range");
  EXPECT_EQ(refused({.prompt = {1}, .max_tokens = -1}), "bad_max_tokens");
  EXPECT_EQ(refused({.prompt = {1}, .stop = {""}}), "bad_stop");
}

TEST(Engine, RefusesOptionsAndParametersOutOfRangeByName) {
  const auto refused = [](const EngineOptions& options) {
    const Fixture f;
    auto decoder = Decoder::load(*f.file, *f.device, {.max_logit_rows = 4, .max_seqs = 4});
    const auto engine =
        Engine::create(*std::move(decoder), *Tokenizer::from(f.file->metadata()), options);
    return engine ? std::string() : engine.error().message;
  };
  EXPECT_EQ(refused({.max_seqs = 0}), "max_seqs is 0, allowed are 1 to 256");
  EXPECT_EQ(refused({.prefill_chunk = 0}), "prefill_chunk is 0, allowed are 1 to 8192");
  EXPECT_EQ(refused({.max_queue = 0}), "max_queue is 0, allowed are 1 to 65536");
  Fixture f;
  GenerateRequest r = request(4, 1, 4);
  r.sink = std::make_shared<Reader>();
  r.priority = 3;
  EXPECT_EQ(f.engine->submit(r).error().message, "priority is 3, allowed are -2 to 2");
}

TEST(Engine, AFullQueueRefusesAndLosesNothing) {
  Fixture f({.max_queue = 30});
  std::vector<std::shared_ptr<Reader>> readers;
  for (int i = 0; i < 30; ++i)
    readers.push_back(f.submit(request(2, i, 1)));
  GenerateRequest r = request(2, 1, 1);
  r.sink = std::make_shared<Reader>();
  const auto result = f.engine->submit(std::move(r));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(result.error().message, "the queue holds 30 requests, which is its limit");
  f.finish();
  for (const auto& reader : readers)
    EXPECT_TRUE(reader->last);
}

TEST(Engine, StopTextIsNotShown) {
  Fixture f;
  const std::string all = f.alone(request(4, 3, 40));
  std::size_t at = 5;  // an ASCII letter of the answer, far enough in to be a real stop
  while (at < all.size() && (all[at] < 33 || all[at] > 126))
    ++at;
  ASSERT_LT(at, all.size());
  GenerateRequest r = request(4, 3, 40);
  r.stop = {std::string(1, all[at])};
  const auto reader = f.submit(std::move(r));
  f.finish();
  EXPECT_EQ(reader->text, all.substr(0, all.find(all[at])));
  EXPECT_EQ(reader->last->finish, FinishReason::kStop);
}

TEST(Engine, EndTokenEndsTheAnswer) {
  Fixture f;
  int ended = 0;
  for (int seed = 0; seed < 40; ++seed) {
    GenerateRequest r = request(4, seed, 200);
    r.sampling.temperature = 4;  // noise: every token is about as likely as the next
    r.sampling.top_k = 0;
    r.sampling.top_p = 1;
    r.sampling.min_p = 0;
    r.ignore_end = false;
    const auto reader = f.submit(std::move(r));
    f.finish();
    if (reader->last->finish == FinishReason::kEos) ++ended;
    EXPECT_EQ(reader->text.find("<|im_end|>"), std::string::npos);
  }
  EXPECT_GT(ended, 5);
}

TEST(Engine, ASlowReaderPausesItselfAloneAndMissesNothing) {
  Fixture f;
  const std::string wanted = f.alone(request(6, 2, 30));
  const auto slow = f.submit(request(6, 2, 30));
  const auto quick = f.submit(request(9, 5, 20));
  slow->room = 3;
  f.finish();
  EXPECT_FALSE(slow->last);
  EXPECT_TRUE(quick->last);
  while (!slow->last) {
    slow->room = 1;
    f.engine->step();
  }
  EXPECT_EQ(slow->text, wanted);
}

TEST(Engine, CancelEndsOneRequestDuringPrefillAndDecode) {
  Fixture f({.max_seqs = 2}, 1, 16);
  const std::string wanted = f.alone(request(40, 8, 12));
  for (const int steps : {0, 1, 4, 9}) {
    RequestId id = 0;
    const auto gone = f.submit(request(50, 7, 60), &id);
    const auto stays = f.submit(request(40, 8, 12));
    for (int i = 0; i < steps; ++i)
      f.engine->step();
    f.engine->cancel(id);
    f.finish();
    ASSERT_TRUE(gone->last) << steps;
    EXPECT_EQ(gone->last->finish, FinishReason::kCancelled);
    EXPECT_EQ(stays->text, wanted);
  }
}

TEST(Engine, APromptThatGoesOnComputesOnlyWhatIsNew) {
  Fixture f({.max_seqs = 1});
  GenerateRequest first = request(40, 1, 8);
  GenerateRequest second = first;
  second.prompt.insert(second.prompt.end(), {65, 66, 67});
  const std::string fresh = Fixture({.max_seqs = 1}).alone(second);
  f.alone(first);
  const auto reader = f.submit(second);
  f.finish();
  EXPECT_EQ(reader->last->usage.cached_tokens, 40);
  EXPECT_EQ(reader->text, fresh);
}

TEST(Engine, APromptGoesThroughInPassesOfTheChunkAsked) {
  for (const auto& [chunk, passes] : {std::pair(64, 4), std::pair(kMaxBatchTokens, 1)}) {
    Fixture f({.context = 256, .prefill_chunk = chunk}, 1, chunk);
    f.alone(request(200, 1, 1));
    EXPECT_EQ(f.device->passes, passes) << "chunks of " << chunk;
  }
}

TEST(Engine, RunSleepsUntilWorkComesAndEndsWhatIsLeft) {
  Fixture f;
  std::jthread thread([&](const std::stop_token& stop) { f.engine->run(stop); });
  const auto reader = f.submit(request(4, 1, 3));
  const auto endless = f.submit(request(4, 1, 200));
  endless->room = 2;  // pauses for ever
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  thread.request_stop();
  thread.join();
  EXPECT_TRUE(reader->last);
}

// No step while nothing can be done: each would be counted.
TEST(Engine, RunSleepsWhileReadersAreBehindAndGoesOnWhenOneIsWoken) {
  const std::string wanted = Fixture().alone(request(4, 1, 20));

  struct CountingClock final : Clock {
    mutable std::atomic<long> n_reads = 0;

    std::int64_t now_ns() const noexcept override {
      ++n_reads;
      return monotonic_ns();
    }
  } clock;

  Fixture f({.clock = &clock});
  const auto reader = f.submit(request(4, 1, 20));
  reader->room = 2;
  std::jthread thread([&](const std::stop_token& stop) { f.engine->run(stop); });
  while (reader->room > 0)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const long asleep = clock.n_reads;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(clock.n_reads, asleep);
  reader->room = 1 << 30;
  f.engine->wake();
  while (!reader->is_over)
    std::this_thread::yield();
  thread.request_stop();
  thread.join();
  EXPECT_EQ(reader->text, wanted);
}

TEST(Engine, ATimeLimitEndsARequestWhoseReaderIsBehind) {
  Fixture f;
  GenerateRequest late = request(4, 1, 200);
  late.time_limit_ms = 20;
  const auto reader = f.submit(std::move(late));
  reader->room = 2;
  std::jthread thread([&](const std::stop_token& stop) { f.engine->run(stop); });
  while (reader->room > 0)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  reader->room = 1 << 30;
  f.engine->wake();
  while (!reader->is_over)
    std::this_thread::yield();
  EXPECT_EQ(reader->error, "time_limit");
}

// The two slots belong to sequences that nobody reads; nobody wakes the engine for the third.
TEST(Engine, AReaderThatIsBehindGivesUpItsPlace) {
  Fixture f({.max_seqs = 2});
  const auto first = f.submit(request(4, 1, 20));
  const auto second = f.submit(request(4, 2, 20));
  first->room = second->room = 1;
  std::jthread thread([&](const std::stop_token& stop) { f.engine->run(stop); });
  while (first->room > 0 || second->room > 0)
    std::this_thread::yield();
  const auto third = f.submit(request(4, 3, 20));
  while (!third->is_over)
    std::this_thread::yield();
  EXPECT_EQ(third->last->finish, FinishReason::kLength);
}

class SameBitsEngine : public testing::TestWithParam<int> {};

// Every request's text is the one it gets alone, whatever runs beside it and however the work is
// cut.
TEST_P(SameBitsEngine, CompanionsChunksSlotsAndThreadsNeverChangeAToken) {
  const int chunk = GetParam();
  constexpr int kRequests = 12;
  std::vector<std::string> wanted;
  for (int i = 0; i < kRequests; ++i) {
    wanted.push_back(Fixture({.max_seqs = 1}).alone(request(3 + i * 7, i % 5, 10 + i)));
  }
  for (const int threads : {1, 3}) {
    Fixture f({.max_seqs = 4}, threads, chunk);
    std::vector<std::shared_ptr<Reader>> readers;
    for (int i = 0; i < kRequests; ++i) {
      readers.push_back(f.submit(request(3 + i * 7, i % 5, 10 + i)));
      for (int step = 0; step < i % 3; ++step)
        f.engine->step();
    }
    f.finish();
    for (int i = 0; i < kRequests; ++i) {
      EXPECT_EQ(readers[static_cast<std::size_t>(i)]->text, wanted[static_cast<std::size_t>(i)])
          << "request " << i << ", " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chunks, SameBitsEngine, testing::Values(5, 16, 64, 512));

TEST(HotPathEngine, DecodeStepTouchesNeitherHeapNorLock) {
  Fixture f({.max_seqs = 8}, 2);
  std::vector<std::shared_ptr<Reader>> readers;
  for (int i = 0; i < 8; ++i) {  // mixed: lengths, samplers, stop sequences, emissions, logprobs
    GenerateRequest r = request(10 + 3 * i, i % 3, 100);
    if (i % 2 == 0) r.sampling.repeat_penalty = 1.2F;
    if (i == 3) r.sampling.temperature = 0;
    if (i == 5) r.stop = {"no such text"};
    if (i == 6) r.emit_tokens = 12;
    if (i == 7) r.top_logprobs = 5;
    r.tenant = static_cast<std::uint64_t>(i / 4);
    r.time_limit_ms = 100'000;
    readers.push_back(f.submit(std::move(r)));
  }
  for (int i = 0; i < 3; ++i)
    f.engine->step();  // prompts
  test::reset_hot_counts();
  for (int i = 0; i < 64; ++i)
    ASSERT_TRUE(f.engine->step());
  const test::HotCounts counts = test::hot_counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.frees, 0);
  EXPECT_EQ(counts.locks, 0);
  for (const auto& reader : readers)
    EXPECT_FALSE(reader->last) << "all of them decoded in all of these steps";
}

// Preemption moves sequences to and fro inside a step.
TEST(HotPathEngine, PreemptionTouchesNeitherHeapNorLock) {
  const int position = 2 * 2 * 2 * 8 * 2;  // bytes: keys and values, 2 layers, 2 heads of 8, bf16
  for (const std::vector<int>& parts : {std::vector<int>{}, {0, 1, 0, 0, 1, 1}}) {
    const EngineOptions options{
        .max_seqs = 4, .context = 128, .kv_limit_bytes = 12 * 16 * position};
    Fixture f(options, 1, 512, {}, parts);
    std::vector<std::shared_ptr<Reader>> readers;
    for (int i = 0; i < 4; ++i)
      readers.push_back(f.submit(request(10, i, 80)));
    for (int i = 0; i < 3; ++i)
      f.engine->step();
    test::reset_hot_counts();
    f.finish();
    const test::HotCounts counts = test::hot_counts();
    EXPECT_EQ(counts.allocations, 0);
    EXPECT_EQ(counts.locks, 0);
    int preemptions = 0;
    for (const auto& reader : readers)
      preemptions += reader->last->usage.preemptions;
    EXPECT_GT(preemptions, 0);
  }
}

}  // namespace
}  // namespace wick
