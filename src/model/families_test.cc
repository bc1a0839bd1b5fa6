// One tiny random model of each row of the registry (tools/goldens/model_families.py): the logits
// of Hugging Face transformers, and the same bits whatever computes them. tools/parity/models.py
// compares more configurations, from GGUF too.
#include <cmath>
#include <iterator>
#include <set>

#include "model/arch/common.h"
#include "model/run_test.h"
#include "support/test_data.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

constexpr int kTokens = 96;

const fs::path& root() {
  static const fs::path path = test::test_data("model/families");
  return path;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Arch& arch : archs()) {
    if (!arch.is_encoder) all.emplace_back(arch.gguf_name);  // those: encoders_test.cc
  }
  return all;
}

class Family : public testing::TestWithParam<std::string> {
 protected:
  Family() : folder_(root() / GetParam()), ids_(test::read_values<TokenId>(folder_ / "ids.bin")) {
    setup_.max_batch_tokens = 4 * kTokens;
    setup_.context = kTokens;  // beyond the trained one where rotations are scaled
  }

  std::unique_ptr<Running> load(const RunSetup& setup) {
    auto model = run_model(folder_, setup);
    EXPECT_TRUE(model) << to_string(model.error());
    return model ? *std::move(model) : nullptr;
  }

  std::vector<float> logits(const RunSetup& setup, int chunk = kTokens) {
    const auto model = load(setup);
    return model ? logits_of(*model, ids_, chunk) : std::vector<float>{};
  }

  // The logits of positions from `begin` on, which sequence 0 does not have yet.
  std::vector<float> rest(Running& model, Pos begin) {
    Slice slice;
    for (Pos pos = begin; pos < kTokens; ++pos)
      slice.add(0, pos, ids_[static_cast<std::size_t>(pos)]);
    EXPECT_TRUE(model.memory.extend(0, kTokens));
    model.decoder.launch(slice.batch(), model.memory);
    const auto logits = model.decoder.logits();
    return {logits->begin(), logits->end()};
  }

  fs::path folder_;
  std::vector<TokenId> ids_;
  RunSetup setup_;
};

class ParityFamilies : public Family {};

class SameBitsFamilies : public Family {};

std::vector<float> tail(const std::vector<float>& all, std::size_t n) {
  return {all.end() - static_cast<std::ptrdiff_t>(n), all.end()};
}

TEST_P(ParityFamilies, LogitsDifferByAtMostThreeTenThousandths) {
  const auto want = test::read_values<float>(folder_ / "logits.bin");
  const auto got = logits(setup_);
  ASSERT_EQ(got.size(), want.size());
  float worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i])) << "value " << i;
    worst = std::max(worst, std::abs(got[i] - want[i]));
  }
  EXPECT_LE(worst, 3e-4F);
}

TEST_P(SameBitsFamilies, InChunksOfAnySizeOnEveryInstructionSet) {
  for (const KvType kv : {KvType::kF32, KvType::kBF16}) {
    setup_.kv = kv;
    const auto whole = logits(setup_);
    for (const int chunk : {1, 3, 16})
      EXPECT_TRUE(same_bits(logits(setup_, chunk), whole)) << chunk << " tokens, " << name(kv);
  }
  setup_.kv = KvType::kF32;
  setup_.isa = Isa::kScalar;
  const auto scalar = logits(setup_);
  setup_.threads = 3;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!is_supported(isa)) continue;
    setup_.isa = isa;
    EXPECT_TRUE(same_bits(logits(setup_), scalar)) << name(isa);
  }
}

TEST_P(SameBitsFamilies, BesideThreeOtherSequences) {
  const auto alone = logits(setup_);
  setup_.max_seqs = 4;
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  Slice slice;
  for (SeqId seq = 0; seq < 4; ++seq) {
    const int n = seq == 2 ? kTokens : 30 + seq;
    ASSERT_TRUE(model->memory.extend(seq, n));
    for (Pos pos = 0; pos < n; ++pos)
      slice.add(seq, pos, ids_[static_cast<std::size_t>(seq == 2 ? pos : kTokens - 1 - pos)]);
  }
  model->decoder.launch(slice.batch(), model->memory);
  const auto all = model->decoder.logits();
  ASSERT_TRUE(all);
  const auto own = all->subspan((30 + 31) * alone.size() / kTokens, alone.size());
  EXPECT_TRUE(same_bits({own.begin(), own.end()}, alone));
}

TEST_P(SameBitsFamilies, TruncatedAndContinued) {
  const auto whole = logits(setup_);
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  logits_of(*model, ids_, kTokens);
  for (const Pos end : {95, 61, 37, 16, 1}) {
    const Pos begin = model->memory.rollback(0, end);
    ASSERT_LE(begin, end);
    const auto again = rest(*model, begin);
    EXPECT_TRUE(same_bits(again, tail(whole, again.size()))) << "from " << end;
  }
}

TEST_P(SameBitsFamilies, SavedAndRestored) {
  const auto whole = logits(setup_);
  const auto first = load(setup_), second = load(setup_);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  logits_of(*first, {ids_.begin(), ids_.begin() + kBlockTokens}, kBlockTokens);
  first->memory.snapshot(0, false);  // of a recurrent state; the others need none
  std::vector<std::byte> bytes;
  first->memory.export_block(first->memory.blocks(0)[0], bytes);
  SequenceMemory& memory = second->memory;
  ASSERT_EQ(memory.exported_bytes(bytes), bytes.size());
  ASSERT_TRUE(memory.extend(0, kBlockTokens));
  const BlockId block = memory.blocks(0)[0];
  memory.import_block(block, bytes);
  memory.pin(block);
  memory.release(0);
  SequenceMemory::Path path;
  memory.append(path, block);
  ASSERT_TRUE(memory.can_resume(path));
  memory.attach(0, std::span(&block, 1));
  const auto again = rest(*second, kBlockTokens);
  EXPECT_TRUE(same_bits(again, tail(whole, again.size())));
}

TEST_P(SameBitsFamilies, OnTwoDevicesCutBehindEachPart) {
  const auto whole = logits(setup_);
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  const int layers = static_cast<int>(model->decoder.spec().blocks.size());
  for (const auto& parts : test::all_cuts(layers)) {
    setup_.parts = parts;
    EXPECT_TRUE(same_bits(logits(setup_), whole)) << test::to_string(parts);
  }
}

TEST_P(SameBitsFamilies, LayersWithAWindowKeepOnlyThat) {
  setup_.context = 4096;
  setup_.max_batch_tokens = 64;
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  DecoderSpec all = model->decoder.spec(), full = all;
  full.blocks.clear();  // but those without a window
  for (int i = 0; i < static_cast<int>(all.blocks.size()); ++i) {
    const GqaSpec* const attention = attention_of(all, i);
    if (attention == nullptr || attention->window == 0)
      full.blocks.push_back(all.blocks[static_cast<std::size_t>(i)]);
  }
  std::size_t early = 0;
  for (Pos begin = 0; begin < 4096; begin += 64) {
    if (begin == 256) early = model->memory.bytes_in_use();
    Slice slice;
    for (Pos pos = begin; pos < begin + 64; ++pos)
      slice.add(0, pos, ids_[static_cast<std::size_t>(pos % kTokens)]);
    ASSERT_TRUE(model->memory.extend(0, begin + 64));
    model->decoder.launch(slice.batch(), model->memory);
    ASSERT_TRUE(model->decoder.logits());
    model->memory.advance(0, begin + 64);
  }
  EXPECT_EQ(model->memory.bytes_in_use() - early,
            (4096 - 256) * kv_bytes_per_position(full, KvType::kF32, KvType::kF32));
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tiny, ParityFamilies, testing::ValuesIn(names()), name_of);
INSTANTIATE_TEST_SUITE_P(Tiny, SameBitsFamilies, testing::ValuesIn(names()), name_of);

// Of the tables of embeddings a step reads one row, unless the table is the LM head too.
TEST(Families, AStepDoesNotReadTheTableOfLayerInputs) {
  const auto model = run_model(root() / "gemma4", {});
  ASSERT_TRUE(model) << to_string(model.error());
  std::size_t all = 0, table = 0;
  for (const TensorView& tensor : (*model)->file.tensors()) {
    all += tensor.bytes.size();
    if (tensor.name == "model.embed_tokens_per_layer.weight") table = tensor.bytes.size();
  }
  EXPECT_GT(table, 0U);
  EXPECT_EQ((*model)->decoder.bytes_read_per_token(), all - table);
}

TEST(Families, EveryFolderIsOfSomeArchitecture) {
  std::set<std::string> known;
  for (const Arch& arch : archs())
    known.emplace(arch.gguf_name);
  for (const auto& entry : fs::directory_iterator(root()))
    EXPECT_EQ(known.count(entry.path().filename().string()), 1U) << entry.path();
}

}  // namespace
}  // namespace wick
