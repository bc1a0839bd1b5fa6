// What a request may ask for besides text, and how it ends before its time.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine/engine_fixture_test.h"
#include "support/test_data.h"
#include "support/test_device.h"

namespace wick {
namespace {

TEST(EngineReuse, TurnsOfAConversationComputeOnlyWhatIsNew) {
  Fixture f({}, 1, 512, {.context = 8192});
  std::vector<TokenId> said = prompt(3200, 1);
  for (int turn = 0; turn < 5; ++turn) {
    GenerateRequest r = request(1, turn, 60);
    r.prompt = said;
    f.device->n_tokens = 0;
    const auto reader = f.submit(r);
    f.finish();
    const Usage& usage = reader->last->usage;
    const int known = turn == 0 ? 0 : 200;  // not computed: the question, and the answer's last
    EXPECT_EQ(usage.prompt_tokens - usage.cached_tokens, turn == 0 ? 3200 : known + 1);
    EXPECT_EQ(f.device->n_tokens, usage.prompt_tokens - usage.cached_tokens + 59);
    EXPECT_EQ(usage.miss.reason, turn == 0 ? MissReason::kNeverSeen : MissReason::kNew);
    said.insert(said.end(), reader->tokens.begin(), reader->tokens.end());
    const auto question = prompt(200, 7 + turn);
    said.insert(said.end(), question.begin(), question.end());
  }
}

TEST(EngineReuse, AnEditedMiddleIsReusedExactlyUpToTheEditAndSaysWhere) {
  Fixture f({}, 1, 512, {.context = 2048});
  f.alone(request(1000, 1, 5));
  GenerateRequest edited = request(1000, 1, 5);
  edited.prompt[501] = 3;
  const auto reader = f.submit(edited);
  f.finish();
  EXPECT_EQ(reader->last->usage.cached_tokens, 501);
  const CacheMiss& miss = reader->last->usage.miss;
  EXPECT_EQ(miss.reason, MissReason::kEdited);
  EXPECT_EQ(miss.position, 501);
  EXPECT_EQ(miss.wanted, 3);
  EXPECT_EQ(miss.cached, request(1000, 1, 5).prompt[501]);
  EXPECT_EQ(reader->text, Fixture({}, 1, 512, {.context = 2048}).alone(edited));
}

TEST(EngineReuse, RequestsThatComeTogetherComputeTheirPromptOnce) {
  Fixture f({.max_seqs = 8}, 1, 512, {.context = 1024});
  std::vector<std::shared_ptr<Reader>> readers;
  for (int i = 0; i < 8; ++i) {
    GenerateRequest r = request(400, 1, 4);
    r.sampling.seed = static_cast<std::uint64_t>(i);
    readers.push_back(f.submit(std::move(r)));
  }
  f.finish();
  EXPECT_EQ(f.device->n_tokens, 400 + 7 * 16 + 8 * 3) << "a block each at most, then decode";
  for (int i = 0; i < 8; ++i) {
    GenerateRequest r = request(400, 1, 4);
    r.sampling.seed = static_cast<std::uint64_t>(i);
    const auto solo = Fixture({}, 1, 512, {.context = 1024}).alone(std::move(r));
    EXPECT_EQ(readers[static_cast<std::size_t>(i)]->text, solo);
  }
}

TEST(EngineReuse, TenantsShareNothing) {
  Fixture f({}, 1, 512, {.context = 512});
  for (std::uint64_t tenant = 1; tenant <= 32; ++tenant) {
    GenerateRequest r = request(300, 1, 2);
    r.tenant = tenant;
    f.device->n_tokens = 0;
    f.alone(std::move(r));
    EXPECT_EQ(f.device->n_tokens, 301);
  }
}

TEST(EnginePlan, TellsWhatARequestWouldTakeWithoutRunningIt) {
  Fixture f({}, 1, 512, {.context = 1024});
  f.alone(request(300, 1, 5));
  GenerateRequest r = request(400, 1, 50);
  std::copy_n(request(300, 1, 5).prompt.begin(), 300, r.prompt.begin());
  r.prompt[300] = 9;
  f.device->n_tokens = 0;
  const auto plan = f.beside_steps([&] { return f.engine->estimate(r); });
  EXPECT_EQ(f.device->n_tokens, 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->prompt_tokens, 400);
  EXPECT_EQ(plan->max_tokens, 50);
  EXPECT_EQ(plan->cached_tokens, 300);
  EXPECT_EQ(plan->miss.reason, MissReason::kEdited);
  EXPECT_EQ(plan->blocks, 29);  // 450 positions
  EXPECT_EQ(plan->cache_bytes, 29U * 16 * 2 * 2 * 16 * 2);
  EXPECT_EQ(plan->requests_before, 0);
  ASSERT_TRUE(plan->ttft_ms);
  EXPECT_GT(*plan->ttft_ms, 0);
}

TEST(EnginePlan, TellsWhatIsFreeAndNoTimeThatWasNotMeasured) {
  Fixture f({}, 1, 512, {.context = 1024});
  GenerateRequest r = request(400, 1, 50);
  const auto plan = [&](const auto& request) {
    const auto told = f.beside_steps([&] { return f.engine->estimate(request); });
    EXPECT_TRUE(told);
    return told ? *told : RequestEstimate{};
  };
  const RequestEstimate empty = plan(r);
  EXPECT_FALSE(empty.ttft_ms);
  EXPECT_GE(empty.free_blocks, 1024 / 16);
  const auto other = f.submit(request(100, 2, 50));
  other->room = 0;  // it stays where it is
  f.engine->step();
  const RequestEstimate beside = plan(r);
  EXPECT_EQ(beside.requests_before, 1);
  EXPECT_EQ(beside.free_blocks, empty.free_blocks - 7);  // of 16 positions each
  EXPECT_TRUE(beside.ttft_ms);
  other->room = 1 << 30;
  f.finish();
  EXPECT_EQ(plan(r).free_blocks, empty.free_blocks);  // what is cached makes room
  EXPECT_EQ(f.engine->estimate(ScoreRequest{.generate = r}).error().id, "bad_top_logprobs");
  r.top_logprobs = 0;
  EXPECT_FALSE(plan(ScoreRequest{.generate = r}).ttft_ms);
}

TEST(EngineQueue, AHigherPriorityStartsBeforeThoseThatWaitLonger) {
  Fixture f({.max_seqs = 1});
  f.submit(request(5, 1, 5));
  f.engine->step();
  std::vector<std::shared_ptr<Reader>> low;
  for (int i = 0; i < 10; ++i)
    low.push_back(f.submit(request(5, i, 5)));
  GenerateRequest r = request(5, 11, 5);
  r.priority = 2;
  const auto high = f.submit(std::move(r));
  while (!high->last)
    ASSERT_TRUE(f.engine->step());
  for (const auto& reader : low)
    EXPECT_TRUE(reader->text.empty());
}

TEST(EngineStreams, TextGathersUntilThereAreTokensEnoughAndTheEndHandsOverAll) {
  Fixture f({.context = 256});
  const std::string wanted = f.alone(request(4, 1, 100));

  struct Sizes final : DeltaSink {
    std::vector<std::size_t> sizes;
    std::string text;

    bool offer(const TextDelta& delta) noexcept override {
      sizes.push_back(delta.tokens.size());
      text += delta.text;
      return true;
    }
  };

  for (const int tokens : {1, 8, 33, 256}) {
    const auto sizes = std::make_shared<Sizes>();
    sizes->sizes.reserve(200);
    GenerateRequest r = request(4, 1, 100);
    r.emit_tokens = tokens;
    r.sink = sizes;
    ASSERT_TRUE(f.engine->submit(std::move(r)));
    f.finish();
    EXPECT_EQ(sizes->text, wanted);
    const auto wanted_size = static_cast<std::size_t>(tokens);
    EXPECT_LE(sizes->sizes.size(), 100 / wanted_size + 2);  // then the rest, and the last delta
    for (std::size_t i = 0; i + 2 < sizes->sizes.size(); ++i)
      EXPECT_GE(sizes->sizes[i], wanted_size);
  }
  GenerateRequest many = request(4, 1, 100);
  many.emit_tokens = 257;
  many.sink = std::make_shared<Sizes>();
  EXPECT_FALSE(f.engine->submit(std::move(many)));
}

// Takes one offer of `one_of`, and holds each against what a TextStream shows of its tokens.
struct PickyReader final : DeltaSink {
  const Tokenizer& tokenizer;
  std::vector<std::string> stop;
  int one_of, n_offers = 0;
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<IdLogprob> logprobs;
  bool is_over = false;

  PickyReader(const Tokenizer& t, std::vector<std::string> s, int n)
      : tokenizer(t), stop(std::move(s)), one_of(n) {}

  bool offer(const TextDelta& delta) noexcept override {
    if (++n_offers % one_of != 0) return false;
    text += delta.text;
    tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
    logprobs.insert(logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
    EXPECT_EQ(logprobs.size(), 2 * tokens.size());
    is_over = delta.finish != FinishReason::kNone;
    EXPECT_EQ(delta.text.empty(), is_over);
    if (!is_over) check();
    return true;
  }

  // So many tokens as it takes to show the text, and no more; or it was held back to the end.
  void check() const {
    TextStream stream(tokenizer, false, stop);
    std::string shown, before;
    for (const TokenId id : tokens) {
      before = shown;
      shown += stream.push(id);
    }
    const bool is_held = shown.size() < text.size();
    if (is_held) shown += stream.finish();
    EXPECT_EQ(shown, text);
    EXPECT_TRUE(is_held || before.size() < text.size());
  }
};

// Characters of one, two and three bytes, in parts what the stop sequence begins with; then the
// end.
struct Recitation final : LogitsEditor {
  static constexpr std::string_view kText = "aé€no b";
  static constexpr std::size_t kTokens = 123;

  bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept override {
    const std::size_t at = history.size() - 6;  // behind the prompt
    const auto next = static_cast<std::uint8_t>(kText[at % kText.size()]);
    std::fill(logits.begin(), logits.end(), -1e9F);
    logits[at + 1 < kTokens ? next : std::size_t{test::kTinyImEnd}] = 0;
    return true;
  }
};

// With draft tokens several tokens come in one step, of which the last may show nothing yet.
TEST(EngineStreams, ATokenComesWithTheFirstTextBehindItAtAnyPace) {
  for (const int draft_max : {0, 4}) {
    for (const int emit_tokens : {0, 16}) {
      Fixture f({.context = 256, .draft_max = draft_max, .adaptive_drafting = false});
      for (const int one_of : {1, 2, 3, 7, 40}) {
        GenerateRequest r = request(6, 2, 200);
        r.ignore_end = false;
        r.editor = std::make_shared<Recitation>();
        r.top_logprobs = 1;
        r.emit_tokens = emit_tokens;
        r.stop = {"no such"};
        const auto reader = std::make_shared<PickyReader>(f.engine->tokenizer(), r.stop, one_of);
        r.sink = reader;
        ASSERT_TRUE(f.engine->submit(std::move(r)));
        while (!reader->is_over)
          f.engine->step();
        ASSERT_EQ(reader->tokens.size(), Recitation::kTokens);
        EXPECT_EQ(reader->tokens.back(), test::kTinyImEnd);
      }
    }
  }
}

// A letter every 20 ms.
struct OneLetter final : LogitsEditor {
  HandClock& clock;

  explicit OneLetter(HandClock& c) : clock(c) {}

  bool edit(std::span<float> logits, std::span<const TokenId>) noexcept override {
    clock.advance_ms(20);
    std::fill(logits.begin(), logits.end(), -1e9F);
    logits['a'] = 0;
    return true;
  }
};

// The fourth would come 60 ms behind the first, so three go 40 ms behind it.
TEST(EngineStreams, NoTextWaitsLongerThanItMay) {
  HandClock clock;
  Fixture f({.context = 256, .clock = &clock});
  GenerateRequest r = request(4, 1, 200);
  r.editor = std::make_shared<OneLetter>(clock);
  r.emit_tokens = 8;
  r.emit_ms = 50;
  const auto reader = f.submit(std::move(r));
  for (std::size_t n = 1; n <= 30; ++n) {
    f.engine->step();
    EXPECT_EQ(reader->text.size(), n / 3 * 3);
  }
}

TEST(EngineEnds, ATimeLimitEndsWithAnErrorAndKeepsWhatWasSaid) {
  HandClock clock;
  Fixture f({.context = 256, .clock = &clock});
  GenerateRequest r = request(4, 1, 250);
  r.time_limit_ms = 30;
  const auto late = f.submit(std::move(r));
  for (int i = 0; i < 10; ++i)
    f.engine->step();
  clock.advance_ms(29);
  f.engine->step();
  EXPECT_FALSE(late->last);
  clock.advance_ms(1);
  f.finish();
  ASSERT_TRUE(late->last);
  EXPECT_EQ(late->last->finish, FinishReason::kError);
  EXPECT_EQ(late->error, "time_limit");
  EXPECT_GT(late->tokens.size(), 0U);
  const auto next = f.submit(request(4, 1, 250));
  f.finish();
  EXPECT_EQ(next->last->finish, FinishReason::kLength);
  EXPECT_TRUE(std::equal(late->tokens.begin(), late->tokens.end(), next->tokens.begin()));
}

TEST(EngineEnds, ARequestThatWaitsEndsWithItsTimeToo) {
  HandClock clock;
  Fixture f({.max_seqs = 1, .context = 256, .clock = &clock});
  const auto live = f.submit(request(4, 1, 200));
  GenerateRequest r = request(4, 2, 5);
  r.time_limit_ms = 1;
  const auto waits = f.submit(std::move(r));
  f.engine->step();
  clock.advance_ms(1);
  f.engine->step();
  EXPECT_EQ(waits->error, "time_limit");
  EXPECT_FALSE(live->last);
}

TEST(EngineEnds, ARequestThatNobodyReadsAnyMoreLeavesItsSlot) {
  Fixture f({.max_seqs = 1, .context = 256});
  const auto gone = f.submit(request(4, 1, 250));
  const auto next = f.submit(request(4, 2, 5));
  f.engine->step();
  gone->is_gone = true;
  for (int i = 0; i < 6; ++i)
    f.engine->step();
  EXPECT_TRUE(next->last);
}

TEST(EngineEnds, ALastDeltaThatNobodyTakesHoldsNoSlot) {
  Fixture f({.max_seqs = 1});
  const auto slow = f.submit(request(4, 1, 3));
  slow->room = 3;  // the last delta does not fit
  const auto next = f.submit(request(4, 2, 3));
  f.finish();
  EXPECT_FALSE(slow->last);
  EXPECT_TRUE(next->last);
  slow->room = 10;
  f.engine->step();
  EXPECT_TRUE(slow->last);
}

TEST(EngineEnds, APromptAloneIsGivenUpBetweenTwoLayers) {
  Fixture f({.context = 2048}, 1, 512, {.n_layers = 8, .context = 2048});
  RequestId id = 0;
  const auto reader = f.submit(request(500, 1, 5), &id);
  f.device->before_op = [&, op = 0]() mutable {
    if (++op == 10) f.engine->cancel(id);  // in the third of eight layers
  };
  f.engine->step();
  EXPECT_LE(f.device->ops, 14) << "a layer has five ops";
  f.engine->step();
  ASSERT_TRUE(reader->last);
  EXPECT_EQ(reader->last->finish, FinishReason::kCancelled);
}

// A cancel at any moment of any pass: the request is over one step later, its slot is free for the
// next, and the others say what they say alone.
void cancel_at_any_moment(int n_moments) {
  const EngineOptions options{.max_seqs = 3, .context = 256};
  const auto stays_alone = Fixture(options).alone(request(60, 8, 25));
  const auto next_alone = Fixture(options).alone(request(30, 9, 3));
  Fixture f(options, 1, 32);
  std::mt19937 random(1);
  for (int moment = 0; moment < n_moments; ++moment) {
    RequestId id = 0;
    const bool is_alone = moment % 3 == 0;
    const auto stays = is_alone ? nullptr : f.submit(request(60, 8, 25));
    const auto gone = f.submit(request(100, 10 + moment, 100), &id);
    int ops = 1 + static_cast<int>(random() % 300);
    f.device->before_op = [&] {
      if (--ops == 0) f.engine->cancel(id);
    };
    while (ops > 0)
      ASSERT_TRUE(f.engine->step());
    f.engine->step();
    f.device->before_op = {};
    ASSERT_TRUE(gone->last) << "moment " << moment;
    EXPECT_EQ(gone->last->finish, FinishReason::kCancelled);
    const auto next = f.submit(request(30, 9, 3));
    f.finish();
    EXPECT_EQ(next->text, next_alone);
    if (is_alone) continue;
    EXPECT_EQ(stays->text, stays_alone) << "moment " << moment;
  }
}

TEST(EngineEnds, ACancelAtAnyMomentEndsOneRequestAndChangesNoOther) {
  cancel_at_any_moment(120);
}

TEST(SlowEngineEnds, ACancelAtAnyMomentEndsOneRequestAndChangesNoOther) {
  cancel_at_any_moment(1000);
}

// 1,000 words and three questions about them, on the real model: the second and third question
// wait a tenth of the first one's time at most.
TEST(ModelReuse, QuestionsAboutALongTextWaitForItOnlyOnce) {
  const auto file = open_model(test::default_model());
  ASSERT_TRUE(file) << to_string(file.error());
  const auto device = test::make_device();
  auto decoder = Decoder::load(*file, *device, {.max_logit_rows = 4, .max_seqs = 4, .threads = 2});
  const auto tokenizer = *Tokenizer::from(file->metadata());
  const auto engine = *Engine::create(*std::move(decoder), tokenizer, {});
  const char* const names[] = {"river",   "stone",  "garden", "letter",
                               "morning", "bridge", "paper",  "window"};
  std::string words;
  for (int i = 0; i < 1000; ++i)
    words += i % 9 == 0 ? " the" : " " + std::string(names[i * 7919 % 8]);
  double first_ms = 0;
  for (const char* question : {" What is it about?", " Who wrote it?", " When was that?"}) {
    auto reader = std::make_shared<Reader>();
    ASSERT_TRUE(engine->submit(GenerateRequest{.prompt = *tokenizer->encode_plain(words + question),
                                               .max_tokens = 4,
                                               .ignore_end = true,
                                               .sink = reader}));
    while (engine->step()) {
    }
    const double ms = reader->last->usage.prompt_ms;
    std::printf("%d tokens, %d cached: %.0f ms\n", reader->last->usage.prompt_tokens,
                reader->last->usage.cached_tokens, ms);
    if (first_ms == 0) {
      first_ms = ms;
    } else {
      EXPECT_LE(ms, first_ms / 10);
    }
  }
}

}  // namespace
}  // namespace wick
