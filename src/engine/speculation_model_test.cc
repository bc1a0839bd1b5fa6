// Speculative decoding on a real model: 100 prompts about a passage, which the answers quote from,
// answered without speculation, with n-gram drafts, and with a random draft model.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "engine/engine_fixture_test.h"
#include "support/test_data.h"
#include "support/test_device.h"

namespace wick {
namespace {

constexpr int kPrompts = 100, kSlots = 16, kContext = 512, kAnswer = 32;

constexpr std::array<std::string_view, 12> kSentences = {
    "The harbour of the old town lies between two low hills.",
    "In the morning the fishing boats come back, and the market on the quay begins to fill.",
    "A baker carries warm bread across the square while children run to school along the wall.",
    "The clock of the customs house has struck the hours since 1764.",
    "Most of the herring is sold before nine, and what is left goes to the smokehouse.",
    "In winter the ferry to the islands sails on Tuesdays and Fridays only.",
    "The lighthouse keeper's daughter measured the tides for forty years and wrote each one down.",
    "Her notebooks, 212 of them, are kept in the library behind the church of Saint Anne.",
    "Engineers from the city used them in 1931 to decide how high the new sea wall had to be.",
    "It was finished two years late, and it has not been overtopped since.",
    "Visitors are told not to park on the quay between October and March.",
    "The small inn has six rooms, and its window table must be asked for a week ahead."};

constexpr std::array<std::string_view, 5> kTasks = {
    "Summarize the text in two sentences.", "List the facts in the text.",
    "Repeat the text word for word.", "Which sentence of the text is the most important? Quote it.",
    "Rewrite the text for a child."};

GenerateRequest ask(const Tokenizer& tokenizer, int number) {
  std::mt19937 rng(static_cast<std::uint32_t>(number));
  auto sentences = kSentences;
  std::shuffle(sentences.begin(), sentences.end(), rng);
  std::string text = "<|im_start|>user\n";
  for (std::size_t i = 0; i < 3; ++i)
    text += std::string(sentences[i]) + " ";
  text += "\n" + std::string(kTasks[static_cast<std::size_t>(number) % kTasks.size()]);
  text += "<|im_end|>\n<|im_start|>assistant\n";
  GenerateRequest r{.prompt = *tokenizer.encode_special(text), .max_tokens = kAnswer};
  r.sampling = {.temperature = number % 2 == 0 ? 0.0F : 0.8F,
                .seed = static_cast<std::uint64_t>(number)};
  return r;
}

enum class Drafter { kNone, kText, kDraft };

class Answers {
 public:
  std::vector<std::vector<TokenId>> tokens;
  int drafted = 0, accepted = 0;

  Answers(const ModelFile& file, const std::filesystem::path& draft_path, Drafter drafter) {
    const int draft_max = drafter == Drafter::kNone ? 0 : 4;
    const auto device = test::make_device();
    const EngineOptions options{.max_seqs = kSlots,
                                .context = kContext,
                                .draft_max = draft_max,
                                .adaptive_drafting = false};
    auto decoder = *Decoder::load(file, *device,
                                  {.max_batch_tokens = 512,
                                   .max_logit_rows = kSlots + draft_max,
                                   .context = kContext,
                                   .max_seqs = kSlots,
                                   .threads = 2});
    std::optional<ModelFile> draft_file;
    std::unique_ptr<DraftModel> draft;
    if (drafter == Drafter::kDraft) {
      draft_file = *open_model(draft_path);
      draft = *DraftModel::create(
          *Decoder::load(
              *draft_file, *device,
              {.max_batch_tokens = 32, .max_logit_rows = 1, .max_seqs = kSlots, .threads = 1}),
          {.max_seqs = kSlots, .context = kContext, .vocab = decoder.spec().vocab});
    }
    const auto engine = *Engine::create(std::move(decoder), *Tokenizer::from(file.metadata()),
                                        options, std::move(draft));
    answer(*engine);
  }

 private:
  void answer(Engine& engine) {
    std::vector<std::shared_ptr<Reader>> readers;
    for (int i = 0; i < kPrompts; ++i) {
      readers.push_back(std::make_shared<Reader>());
      GenerateRequest r = ask(engine.tokenizer(), i);
      r.sink = readers.back();
      ASSERT_TRUE(engine.submit(std::move(r)));
    }
    while (engine.step()) {
    }
    for (const auto& reader : readers) {
      ASSERT_TRUE(reader->last);
      tokens.push_back(reader->tokens);
      drafted += reader->last->usage.draft_tokens;
      accepted += reader->last->usage.accepted_tokens;
    }
  }
};

TEST(ModelSpeculation, A100PromptsYieldTheSameTokensWithAndWithoutGuesses) {
  const ModelFile file = *open_model(test::default_model());
  test::TempDir dir;
  test::write_tiny_model(dir.path() / "draft.gguf",
                         {.context = kContext, .has_tokenizer = false, .vocab = 49152});
  const Answers plain(file, {}, Drafter::kNone);
  ASSERT_EQ(plain.tokens.size(), std::size_t{kPrompts});
  EXPECT_EQ(plain.drafted, 0);
  const Answers of_text(file, {}, Drafter::kText);
  EXPECT_EQ(of_text.tokens, plain.tokens);
  EXPECT_GT(of_text.accepted, 100);
  EXPECT_GT(of_text.drafted, of_text.accepted);
  const Answers of_draft(file, dir.path() / "draft.gguf", Drafter::kDraft);
  EXPECT_EQ(of_draft.tokens, plain.tokens);
  EXPECT_GT(of_draft.drafted, 100);
  RecordProperty("draft_tokens_of_text", of_text.drafted);
  RecordProperty("accepted_tokens_of_text", of_text.accepted);
}

}  // namespace
}  // namespace wick
