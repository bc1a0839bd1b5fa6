// Speculative decoding: n-gram and model drafts, their limits, and identical output.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "base/hot_scope.h"
#include "engine/draft_control.h"
#include "engine/engine_fixture_test.h"
#include "engine/ngram_index.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

std::vector<TokenId> draft(NgramIndex& index, const std::vector<TokenId>& text, std::size_t n) {
  std::vector<TokenId> out(n);
  out.resize(static_cast<std::size_t>(index.draft(text, out)));
  return out;
}

TEST(NgramIndex, ProposesWhatFollowedTheLastThreeTokens) {
  NgramIndex index(100);
  EXPECT_TRUE(draft(index, {1, 2, 3}, 2).empty());
  EXPECT_EQ(draft(index, {1, 2, 3, 4, 5, 1, 2, 3}, 3), (std::vector<TokenId>{4, 5, 1}));
  EXPECT_TRUE(draft(index, {1, 2, 3, 4, 5, 1, 2, 3, 9}, 3).empty());
}

TEST(NgramIndex, PrefersTheLatestPlace) {
  NgramIndex index(100);
  EXPECT_EQ(draft(index, {1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3}, 1), (std::vector<TokenId>{5}));
}

TEST(NgramIndex, ATextThatRepeatsItselfIsGuessedToGoOnSo) {
  NgramIndex index(100);
  EXPECT_EQ(draft(index, {7, 8, 9, 7, 8, 9}, 7), (std::vector<TokenId>{7, 8, 9, 7, 8, 9, 7}));
  NgramIndex same(100);
  EXPECT_EQ(draft(same, {4, 4, 4, 4}, 3), (std::vector<TokenId>{4, 4, 4}));
}

TEST(NgramIndex, DraftsAlwaysEqualAnEarlierPlaceOfTheText) {
  std::mt19937 rng(4);
  NgramIndex index(3000);
  std::vector<TokenId> text;
  int n_drafted = 0;
  for (int i = 0; i < 3000; ++i) {
    text.push_back(static_cast<TokenId>(rng() % 12));
    const auto out = draft(index, text, 4);
    if (out.empty()) continue;
    ++n_drafted;
    std::vector<TokenId> wanted(text.end() - 3, text.end());
    wanted.push_back(out[0]);
    ASSERT_NE(std::search(text.begin(), text.end(), wanted.begin(), wanted.end()), text.end());
  }
  EXPECT_GT(n_drafted, 1000);
}

TEST(DraftControl, WrongGuessesStayWithinTwoPercentOfALongAnswer) {
  DraftControl control;
  int wrong = 0;
  constexpr int kTokens = 1000;
  for (int i = 0; i < kTokens; ++i) {
    control.sampled();
    const int n = control.length(16);
    wrong += n;
    if (n > 0) control.verified(n, 0);
  }
  EXPECT_LE(wrong, kTokens / 50);
  EXPECT_GT(wrong, 10);  // it goes on trying
}

TEST(DraftControl, RightGuessesGrowToTheMostAllowed) {
  DraftControl control;
  int n = 0;
  for (int i = 0; i < 10; ++i) {
    n = control.length(16);
    control.verified(n, n);
  }
  EXPECT_EQ(n, 16);
  control.verified(16, 3);
  EXPECT_LE(control.length(16), 3);
}

TEST(DraftCost, PausesWhileRowsCostMoreThanRightGuessesSaveAndTriesAgain) {
  DraftCost pay;
  EXPECT_TRUE(pay.is_worth_it());
  pay.step_without(100);
  pay.step_with(180, 2, 2);  // 40 a row, all right
  EXPECT_TRUE(pay.is_worth_it());
  for (int i = 0; i < 20; ++i)
    pay.step_with(260, 4, 1);  // a quarter right
  int tries = 0;
  for (int i = 0; i < 650; ++i)
    tries += pay.is_worth_it() ? 1 : 0;
  EXPECT_EQ(tries, 10);
  for (int i = 0; i < 20; ++i)
    pay.step_with(260, 4, 3);
  EXPECT_TRUE(pay.is_worth_it());
}

// Pushes five tokens in turn, so that the text repeats itself as far as the temperature lets it.
class Cycle final : public LogitsEditor {
 public:
  bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept override {
    logits[static_cast<std::size_t>((history.back() - 10 + 1) % 5 + 10)] += 8;
    return true;
  }
};

GenerateRequest repetitive(float temperature, std::uint64_t seed) {
  GenerateRequest r = request(60, 3, 120);
  for (std::size_t i = 0; i < r.prompt.size(); ++i)
    r.prompt[i] = static_cast<TokenId>(i % 5 + 10);
  r.sampling = {.temperature = temperature, .seed = seed};
  r.editor = std::make_shared<Cycle>();
  return r;
}

EngineOptions drafting(int draft_max, int max_seqs = 2) {
  return {.max_seqs = max_seqs, .draft_max = draft_max, .adaptive_drafting = false};
}

TEST(SameBitsSpeculation, TokensAreThoseWithoutGuessesWhateverTheSampler) {
  std::vector<SamplingParams> all(6);
  all[0].temperature = 0;
  all[1].temperature = 1;
  all[2].temperature = 2, all[2].top_k = 0, all[2].repeat_penalty = 1.1F;
  all[3].mirostat = 2;
  all[4].adaptive_target = 0.3F;
  all[5].xtc_probability = 0.5F, all[5].dry_multiplier = 0.1F;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<TokenId> tokens;
    for (const int draft_max : {0, 1, 4, 16}) {
      Fixture f(drafting(draft_max));
      GenerateRequest r = repetitive(1, 1);
      r.sampling = all[i];
      r.sampling.seed = i;
      const auto reader = f.submit(std::move(r));
      f.finish();
      ASSERT_EQ(reader->tokens.size(), 120U);
      if (draft_max == 0) tokens = reader->tokens;
      EXPECT_EQ(reader->tokens, tokens) << i << " " << draft_max;
      const Usage& usage = reader->last->usage;
      EXPECT_EQ(usage.draft_tokens > 0, draft_max > 0) << i;
      EXPECT_LE(usage.accepted_tokens, usage.draft_tokens);
    }
  }
}

TEST(Speculation, RightGuessesSaveSteps) {
  Fixture f(drafting(16));
  const auto reader = f.submit(repetitive(0, 1));
  f.finish();
  EXPECT_EQ(reader->tokens.size(), 120U);
  EXPECT_LT(f.device->passes, 30);
}

// A model with a smaller draft model.
struct DraftFixture {
  test::TempDir dir;
  std::optional<ModelFile> file, draft_file;
  std::unique_ptr<WatchedDevice> device, draft_device;
  test::FakeDevice second_draft_device{*choose_isa()};
  std::unique_ptr<Engine> engine;

  explicit DraftFixture(bool is_same_model, int draft_max,
                        const std::vector<int>& draft_parts = {}) {
    test::write_tiny_model(dir.path() / "model.gguf", {});
    test::TinyModel small;
    if (!is_same_model) small.type = DType::kQ4_0;  // nearly the same weights
    test::write_tiny_model(dir.path() / "draft.gguf", small);
    file = *open_model(dir.path() / "model.gguf");
    draft_file = *open_model(dir.path() / "draft.gguf");
    device = std::make_unique<WatchedDevice>();
    draft_device = std::make_unique<WatchedDevice>();
    auto draft =
        Decoder::load(*draft_file, test::placed(*draft_device, &second_draft_device, draft_parts),
                      {.max_batch_tokens = 32, .max_logit_rows = 1, .max_seqs = 3, .threads = 1});
    auto model = Decoder::load(
        *file, *device,
        {.max_batch_tokens = 512, .max_logit_rows = 3 + draft_max, .max_seqs = 3, .threads = 1});
    const EngineOptions options = drafting(draft_max, 3);
    const int context = plan_cache(model->spec(), options, 512).context;
    const int vocab = model->spec().vocab;
    engine =
        *Engine::create(*std::move(model), *Tokenizer::from(file->metadata()), options,
                        *DraftModel::create(*std::move(draft),
                                            {.max_seqs = 3, .context = context, .vocab = vocab}));
  }
};

TEST(SameBitsSpeculation, ADraftModelChangesNoToken) {
  for (const float temperature : {0.0F, 0.8F}) {
    const auto ask = [&](int seed) {
      GenerateRequest r = request(40 + seed, seed, 60);
      r.sampling.temperature = temperature;
      return r;
    };
    std::vector<std::vector<TokenId>> wanted;
    Fixture plain;
    for (int seed = 1; seed <= 5; ++seed) {
      const auto reader = plain.submit(ask(seed));
      plain.finish();
      wanted.push_back(reader->tokens);
    }
    int n_accepted = 0, n_wrong = 0;
    for (const bool is_same_model : {true, false}) {
      std::vector<int> draft_parts;
      if (is_same_model) draft_parts = {0, 1, 1, 0, 0, 1};
      DraftFixture f(is_same_model, 4, draft_parts);
      std::vector<std::shared_ptr<Reader>> readers;
      for (int seed = 1; seed <= 5; ++seed) {
        readers.push_back(std::make_shared<Reader>());
        GenerateRequest r = ask(seed);
        r.sink = readers.back();
        ASSERT_TRUE(f.engine->submit(std::move(r)));
      }
      while (f.engine->step()) {
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(readers[i]->tokens, wanted[i]);
        n_accepted += readers[i]->last->usage.accepted_tokens;
        n_wrong += readers[i]->last->usage.draft_tokens - readers[i]->last->usage.accepted_tokens;
      }
    }
    EXPECT_GT(n_accepted, 0);
    EXPECT_TRUE(temperature == 0 || n_wrong > 0);
  }
}

TEST(Speculation, TheModelItselfGuessesItsGreedyTokens) {
  DraftFixture f(true, 4);
  const auto reader = std::make_shared<Reader>();
  GenerateRequest r = request(30, 2, 60);
  r.sampling.temperature = 0;
  r.sink = reader;
  ASSERT_TRUE(f.engine->submit(std::move(r)));
  while (f.engine->step()) {
  }
  const Usage& usage = reader->last->usage;
  EXPECT_EQ(usage.accepted_tokens, usage.draft_tokens);
  EXPECT_LT(f.device->passes, 20);
}

TEST(HotPathSpeculation, ADraftModelNeitherAllocatesNorLocks) {
  DraftFixture f(true, 4);
  const auto reader = std::make_shared<Reader>();
  GenerateRequest r = request(30, 2, 60);
  r.sink = reader;
  ASSERT_TRUE(f.engine->submit(std::move(r)));
  f.engine->step();
  f.engine->step();
  test::reset_hot_counts();
  for (int i = 0; i < 8; ++i)
    f.engine->step();
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
  EXPECT_GT(reader->tokens.size(), 8U);
}

TEST(HotPathSpeculation, StepsWithGuessesAndScoresNeitherAllocateNorLock) {
  Fixture f(drafting(8));
  GenerateRequest scored = repetitive(0.2F, 2);
  scored.top_logprobs = 20;
  const auto a = f.submit(std::move(scored));
  const auto b = f.submit(repetitive(0, 1));
  f.engine->step();
  f.engine->step();
  test::reset_hot_counts();
  for (int i = 0; i < 9; ++i)
    f.engine->step();
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
  EXPECT_GT(b->tokens.size(), 11U);
}

TEST(Speculation, FirstTokensHaveTheDistributionTheyHaveWithoutGuesses) {
  // The token after a draft token, over many seeds: with speculation it is sampled from a row of a
  // larger pass.
  constexpr int kDraws = 50000;
  Fixture f(drafting(2, 8)), plain({.max_seqs = 8});
  std::map<TokenId, int> seen, wanted;
  int n_drafted = 0;
  const auto run = [&](Fixture& fixture, std::uint64_t first, std::map<TokenId, int>& counts) {
    for (std::uint64_t at = first; at < first + kDraws; at += 500) {
      std::vector<std::shared_ptr<Reader>> readers;
      for (std::uint64_t seed = at; seed < at + 250; ++seed) {
        GenerateRequest r = repetitive(1, seed);
        r.prompt.resize(12);
        r.max_tokens = 3;
        r.sampling.top_k = 0, r.sampling.top_p = 1, r.sampling.min_p = 0;
        readers.push_back(fixture.submit(std::move(r)));
      }
      fixture.finish();
      for (const auto& reader : readers) {
        ++counts[reader->tokens[1] % 64];
        ++counts[64 + reader->tokens[2] % 64];
        n_drafted += reader->last->usage.draft_tokens;
      }
    }
  };
  run(plain, 1'000'000, wanted);
  run(f, 0, seen);
  EXPECT_GT(n_drafted, 0);
  // Two samples of the same size: chi-square of their difference, p > 0.001.
  double chi2 = 0;
  int cells = 0;
  for (TokenId id = 0; id < 128; ++id) {
    const double a = seen[id], b = wanted[id];
    if (a + b < 10) continue;
    chi2 += (a - b) * (a - b) / (a + b);
    ++cells;
  }
  const double spread = 2 / (9.0 * (cells - 2));
  EXPECT_LT(chi2, (cells - 2) * std::pow(1 - spread + 3.0902 * std::sqrt(spread), 3));
}

TEST(Scores, AreOfEachTokenAndItsPromptOnce) {
  Fixture f({.max_seqs = 1});
  GenerateRequest r = request(20, 1, 6);
  r.sampling.temperature = 0;
  r.top_logprobs = 3;
  const auto reader = std::make_shared<Reader>();
  ASSERT_TRUE(f.engine->submit(scored(std::move(r), reader)));
  f.finish();
  ASSERT_EQ(reader->logprobs.size(), 4U * 6);
  ASSERT_EQ(reader->prompt_scores.size(), 4U * 20);
  EXPECT_EQ(reader->prompt_scores[0].id, -1);
  const auto ids = prompt(20, 1);
  for (std::size_t i = 1; i < 20; ++i)
    EXPECT_EQ(reader->prompt_scores[4 * i].id, ids[i]);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto row = std::span(reader->logprobs).subspan(4 * i, 4);
    EXPECT_EQ(row[0].id, reader->tokens[i]);
    EXPECT_EQ(row[1].id, row[0].id);  // greedy: the most likely
    EXPECT_EQ(row[1].logprob, row[0].logprob);
    EXPECT_GE(row[1].logprob, row[2].logprob);
    EXPECT_GE(row[2].logprob, row[3].logprob);
    EXPECT_LT(row[0].logprob, 0);
  }
}

TEST(Scores, RefusesMoreThanTheLimitAndAPromptWithoutThem) {
  Fixture f;
  GenerateRequest many = request(4, 1, 1);
  many.top_logprobs = kMaxTopLogprobs + 1;
  many.sink = std::make_shared<Reader>();
  EXPECT_EQ(f.engine->submit(std::move(many)).error().id, "bad_top_logprobs");
  const auto prompt_only = f.engine->submit(scored(request(4, 1, 1), std::make_shared<Reader>()));
  EXPECT_EQ(prompt_only.error().id, "bad_top_logprobs");
}

}  // namespace
}  // namespace wick
