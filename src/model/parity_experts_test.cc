// Tiny random models with experts, latent attention and gated delta layers, as Hugging Face
// transformers computes them (tools/parity/experts.py): the same logits, and the same bits in
// chunks, in a batch of other sequences and after a truncation.
#include <cmath>

#include "model/run_test.h"
#include "support/test_data.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

const fs::path kExperts = test::test_data("model/experts");
constexpr int kPositions = 96;

std::unique_ptr<Running> loaded(const fs::path& path, int max_seqs = 1) {
  auto model = run_model(
      path, {.kv = KvType::kF32, .max_batch_tokens = 4 * kPositions, .max_seqs = max_seqs});
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? *std::move(model) : nullptr;
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float worst = a.size() == b.size() && !a.empty() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && worst < INFINITY; ++i)
    worst = std::isfinite(a[i]) ? std::max(worst, std::abs(a[i] - b[i])) : INFINITY;
  return worst;
}

// Experts lie side by side in GGUF, each in a tensor of its own in safetensors.
class ParityExperts : public testing::TestWithParam<const char*> {
 protected:
  fs::path golden_ = kExperts / GetParam();
  std::vector<TokenId> ids_ = test::read_values<TokenId>(golden_ / "ids.bin");
};

TEST_P(ParityExperts, LogitsDifferByAtMostThreeTenThousandths) {
  const auto want = test::read_values<float>(golden_ / "logits.bin");
  ASSERT_EQ(ids_.size(), std::size_t{kPositions});
  for (const fs::path& path : {golden_ / "model.gguf", golden_}) {
    const auto model = loaded(path);
    ASSERT_NE(model, nullptr);
    EXPECT_LE(largest_difference(logits_of(*model, ids_, kPositions), want), 3e-4F) << path;
  }
}

class SameBitsExpertModels : public ParityExperts {};

TEST_P(SameBitsExpertModels, InChunksOfAnySize) {
  const auto model = loaded(golden_ / "model.gguf");
  ASSERT_NE(model, nullptr);
  const auto whole = logits_of(*model, ids_, kPositions);
  for (const int chunk : {1, 3, 16})
    EXPECT_TRUE(same_bits(logits_of(*model, ids_, chunk), whole)) << "chunks of " << chunk;
}

// Four texts side by side, each another rotation of the ids.
TEST_P(SameBitsExpertModels, InABatchOfFour) {
  constexpr int kSequences = 4, kStep = 8;
  const auto model = loaded(golden_ / "model.gguf", kSequences);
  ASSERT_NE(model, nullptr);
  const auto vocab = static_cast<std::size_t>(model->decoder.spec().vocab);
  const auto alone = logits_of(*model, ids_, kPositions);
  model->memory.release(0);
  std::vector<float> together;
  for (int begin = 0; begin < kPositions; begin += kStep) {
    Slice slice;
    for (SeqId seq = 0; seq < kSequences; ++seq) {
      ASSERT_TRUE(model->memory.extend(seq, begin + kStep));
      for (int pos = begin; pos < begin + kStep; ++pos)
        slice.add(seq, pos, ids_[static_cast<std::size_t>((pos + 7 * seq) % kPositions)]);
    }
    model->decoder.launch(slice.batch(), model->memory);
    const auto logits = model->decoder.logits();
    ASSERT_TRUE(logits);
    const auto own = logits->first(kStep * vocab);
    together.insert(together.end(), own.begin(), own.end());
  }
  EXPECT_TRUE(same_bits(together, alone));
}

TEST_P(SameBitsExpertModels, AfterATruncation) {
  const auto model = loaded(golden_ / "model.gguf");
  ASSERT_NE(model, nullptr);
  const auto vocab = static_cast<std::size_t>(model->decoder.spec().vocab);
  const auto whole = logits_of(*model, ids_, kPositions);
  for (const Pos end : {81, 37, 5}) {
    const Pos begin = model->memory.rollback(0, end);  // recurrent states go further back
    ASSERT_LE(begin, end);
    ASSERT_TRUE(model->memory.extend(0, kPositions));
    Slice slice;
    for (Pos pos = begin; pos < kPositions; ++pos)
      slice.add(0, pos, ids_[static_cast<std::size_t>(pos)]);
    model->decoder.launch(slice.batch(), model->memory);
    const auto logits = model->decoder.logits();
    ASSERT_TRUE(logits);
    const std::vector<float> again(logits->begin(), logits->end());
    const std::vector<float> rest(
        whole.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(begin) * vocab),
        whole.end());
    EXPECT_TRUE(same_bits(again, rest)) << "from " << begin;
  }
}

constexpr const char* kExpertModels[] = {
    "deepseek2_kimi", "deepseek2_v2_groups", "deepseek2_v3_yarn", "gemma4_experts",
    "mixtral_eight",  "qwen2moe_plain",      "qwen3moe_plain"};

std::string expert_model_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParityExperts, testing::ValuesIn(kExpertModels), expert_model_name);
INSTANTIATE_TEST_SUITE_P(Tiny, SameBitsExpertModels, testing::ValuesIn(kExpertModels),
                         expert_model_name);

// Of experts those that a token goes to, of the embedding table one row.
TEST(ExpertModels, CountTheBytesThatATokenReads) {
  const auto model = loaded(kExperts / "qwen3moe_plain" / "model.gguf");
  ASSERT_NE(model, nullptr);
  std::size_t bytes = 0;
  for (const TensorView& tensor : model->file.tensors()) {
    if (tensor.name == "token_embd.weight") continue;
    const bool is_expert = tensor.name.find("_exps.") != std::string_view::npos;
    bytes += is_expert ? tensor.bytes.size() * 2 / 6 : tensor.bytes.size();
  }
  EXPECT_EQ(model->decoder.bytes_read_per_token(), bytes);
}

TEST(ParityExpertGoldens, AreAllCompared) {
  std::vector<std::string> found, listed(std::begin(kExpertModels), std::end(kExpertModels));
  for (const auto& entry : fs::directory_iterator(kExperts))
    found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, listed);
}

}  // namespace
}  // namespace wick
