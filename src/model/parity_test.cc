// Tiny random models of each architecture, as Hugging Face transformers computes them
// (tools/goldens/model_tiny.py): the same logits, and from GGUF the bits of safetensors.
#include <cmath>

#include "model/run_test.h"
#include "model/tiny_archs_test.h"
#include "support/test_data.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

const fs::path kTiny = test::test_data("model/tiny");
constexpr int kTokens = 64;

std::vector<float> run(const fs::path& path, const fs::path& golden, const Arch* arch = nullptr,
                       int chunk = kTokens) {
  const auto ids = test::read_values<TokenId>(golden / "ids.bin");
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kTokens));
  auto model = run_model(path, {.kv = KvType::kF32, .arch = arch});
  if (!model) {
    ADD_FAILURE() << to_string(model.error());
    return {};
  }
  return logits_of(**model, ids, chunk);
}

void expect_close(const std::vector<float>& got, const fs::path& golden) {
  const auto want = test::read_values<float>(golden / "logits.bin");
  ASSERT_EQ(got.size(), want.size());
  ASSERT_GE(want.size(), static_cast<std::size_t>(kTokens) * 90);
  float worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i])) << "value " << i;
    worst = std::max(worst, std::abs(got[i] - want[i]));
  }
  testing::Test::RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(worst, 2e-4F);
}

class ParityTransformers : public testing::TestWithParam<const char*> {};

TEST_P(ParityTransformers, LogitsDifferByAtMostTwoTenThousandths) {
  const fs::path golden = kTiny / GetParam();
  expect_close(run(golden, golden), golden);
}

class SameBitsFormats : public testing::TestWithParam<const char*> {};

TEST_P(SameBitsFormats, GgufGivesTheBitsOfSafetensors) {
  const fs::path golden = kTiny / GetParam();
  EXPECT_TRUE(same_bits(run(golden, golden), run(golden / "model.gguf", golden)));
}

constexpr const char* kNames[] = {
    "llama_mha",         "llama_gqa3_tied",   "llama_gqa8_biases", "llama_linear",
    "llama_llama3",      "llama_llama3_tied", "llama_yarn",        "mistral_gqa3",
    "mistral_window",    "qwen2_gqa3_tied",   "qwen2_yarn",        "qwen3_gqa8_tied",
    "qwen3_gqa3_biases",
};

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParityTransformers, testing::ValuesIn(kNames), name_of);
INSTANTIATE_TEST_SUITE_P(Tiny, SameBitsFormats, testing::ValuesIn(kNames), name_of);

// Mechanisms that no architecture of the library uses yet (tools/goldens/model_mixers.py):
// DeepSeek's latent attention, with the tensors of newer and of older files, and the gated delta
// layers of Qwen3-Next and Qwen 3.5, whose files order heads differently.
class ParityMixers : public testing::TestWithParam<const char*> {};

TEST_P(ParityMixers, LogitsDifferByAtMostTwoTenThousandthsInChunksOfAnySize) {
  const std::string name = GetParam();
  const fs::path golden = kTiny.parent_path() / "mixers" / name;
  const Arch* const arch = test::tiny_arch(name.starts_with("mla") ? "tiny-mla" : "tiny-delta");
  const auto whole = run(golden / "model.gguf", golden, arch);
  expect_close(whole, golden);
  EXPECT_TRUE(same_bits(run(golden / "model.gguf", golden, arch, 7), whole));
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParityMixers,
                         testing::Values("mla_v3", "mla_v2_joint", "delta_grouped", "delta_tiled"),
                         name_of);

TEST(ParityGoldens, AreAllCompared) {
  std::vector<std::string> found, listed(std::begin(kNames), std::end(kNames));
  for (const auto& entry : fs::directory_iterator(kTiny))
    found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(found, listed);
}

}  // namespace
}  // namespace wick
