// One tiny random encoder of each kind (tools/goldens/encoders.py): the hidden states of Hugging
// Face transformers, and the same bits whatever computes them. tools/parity/encoders.py compares
// more configurations, from GGUF too.
#include <cmath>
#include <numeric>

#include "model/run_test.h"
#include "support/test_data.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

constexpr int kTokens = 96;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Arch& arch : archs()) {
    if (arch.is_encoder) all.emplace_back(arch.gguf_name);
  }
  return all;
}

class Encoder : public testing::TestWithParam<std::string> {
 protected:
  Encoder()
      : folder_(test::test_data("model/encoders") / GetParam()),
        ids_(test::read_values<TokenId>(folder_ / "ids.bin")) {
    setup_.max_batch_tokens = 4 * kTokens;
  }

  std::unique_ptr<Running> load(const RunSetup& setup) {
    auto model = run_model(folder_, setup);
    EXPECT_TRUE(model) << to_string(model.error());
    return model ? *std::move(model) : nullptr;
  }

  // The states of sequence `seq`, whose text begins at row `first` of the slice.
  std::vector<float> states(Running& model, const Slice& slice, int first, int n) {
    model.decoder.launch(slice.batch(), model.memory);
    const auto got = model.decoder.states(first, n);
    EXPECT_TRUE(got);
    return {got->begin(), got->end()};
  }

  std::vector<float> states(const RunSetup& setup) {
    const auto model = load(setup);
    if (!model) return {};
    EXPECT_TRUE(model->memory.extend(0, kTokens));
    return states(*model, whole_text(), 0, kTokens);
  }

  Slice whole_text() const {
    Slice slice;
    for (Pos pos = 0; pos < kTokens; ++pos)
      slice.add(0, pos, ids_[static_cast<std::size_t>(pos)], false);
    return slice;
  }

  fs::path folder_;
  std::vector<TokenId> ids_;
  RunSetup setup_;
};

class ParityEncoders : public Encoder {};

class SameBitsEncoders : public Encoder {};

double largest_difference(const std::vector<float>& got, const std::vector<float>& want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    EXPECT_TRUE(std::isfinite(got[i])) << "value " << i;
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
  }
  return worst;
}

TEST_P(ParityEncoders, StatesDifferByAtMostThreeTenThousandths) {
  const auto want = test::read_values<float>(folder_ / "states.bin");
  EXPECT_LE(largest_difference(states(setup_), want), 3e-4);
}

TEST_P(SameBitsEncoders, OnEveryInstructionSetWithAnyNumberOfThreads) {
  setup_.isa = Isa::kScalar;
  const auto scalar = states(setup_);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!is_supported(isa)) continue;
    setup_.isa = isa;
    for (const int threads : {1, 3}) {
      setup_.threads = threads;
      EXPECT_TRUE(same_bits(states(setup_), scalar)) << name(isa) << ", " << threads;
    }
  }
}

TEST_P(SameBitsEncoders, BesideThreeOtherTexts) {
  const auto alone = states(setup_);
  setup_.max_seqs = 4;
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  Slice slice;
  for (SeqId seq = 0; seq < 4; ++seq) {
    const int n = seq == 2 ? kTokens : 30 + seq;
    ASSERT_TRUE(model->memory.extend(seq, n));
    for (Pos pos = 0; pos < n; ++pos)
      slice.add(seq, pos, ids_[static_cast<std::size_t>(seq == 2 ? pos : kTokens - 1 - pos)],
                false);
  }
  EXPECT_TRUE(same_bits(states(*model, slice, 30 + 31, kTokens), alone));
}

TEST_P(SameBitsEncoders, OnTwoDevicesCutBehindEachPart) {
  const auto whole = states(setup_);
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  const int layers = static_cast<int>(model->decoder.spec().blocks.size());
  for (const auto& parts : test::all_cuts(layers)) {
    setup_.parts = parts;
    EXPECT_TRUE(same_bits(states(setup_), whole)) << test::to_string(parts);
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParityEncoders, testing::ValuesIn(names()), name_of);
INSTANTIATE_TEST_SUITE_P(Tiny, SameBitsEncoders, testing::ValuesIn(names()), name_of);

class Dense : public Encoder {};

INSTANTIATE_TEST_SUITE_P(Tiny, Dense, testing::Values("gemma-embedding"), name_of);

TEST_P(Dense, LayersAfterPoolingAreThoseOfTheModulesInOrder) {
  const auto want = test::read_values<float>(folder_ / "pooled.bin");
  const auto all = test::read_values<float>(folder_ / "states.bin");
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->decoder.spec().embedding_width(), 24);
  const std::size_t width = all.size() / kTokens;
  std::vector<float> mean(width);
  for (std::size_t i = 0; i < all.size(); ++i)
    mean[i % width] += all[i] / kTokens;
  const auto got = model->decoder.project(mean);
  ASSERT_TRUE(got);
  EXPECT_LE(largest_difference({got->begin(), got->end()}, want), 1e-5);
}

class Positions : public Encoder {};

INSTANTIATE_TEST_SUITE_P(Tiny, Positions, testing::Values("bert"), name_of);

TEST_P(Positions, ThatAreLearnedEndTheContext) {
  setup_.context = 129;
  const auto model = run_model(folder_, setup_);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().id, "bad_option");
  EXPECT_NE(model.error().message.find("129"), std::string::npos) << model.error().message;
  EXPECT_NE(model.error().message.find("128"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace wick
