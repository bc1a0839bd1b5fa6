// The same logits, bit for bit, whatever computes them: chunks, threads, other requests in the
// batch, instruction sets, a shared prefix.
#include "model/run_test.h"
#include "model/tiny_archs_test.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

constexpr int kTokens = 100;

// One model for each kind of weights: floats, blocks of 32 (three architectures), super-blocks; one
// with latent attention, and two with experts.
std::vector<test::TinyModel> models() {
  return {{.type = DType::kF32},
          {.arch = "qwen2", .n_heads = 4, .n_kv_heads = 4, .type = DType::kQ8_0},
          {.arch = "qwen3", .n_heads = 8, .n_kv_heads = 1, .is_tied = false, .type = DType::kQ4_1},
          {.arch = "llama",
           .n_layers = 1,
           .d_model = 256,
           .n_heads = 8,
           .n_kv_heads = 2,
           .head_dim = 32,
           .hidden = 256,
           .type = DType::kQ4_K},
          {.arch = "tiny-mla",
           .d_model = 64,
           .n_heads = 32,
           .head_dim = 32,
           .latent = 96,
           .query_rank = 32,
           .type = DType::kQ8_0},
          {.arch = "qwen2moe", .experts = 9, .type = DType::kF32},
          {.arch = "qwen3moe", .experts = 5, .type = DType::kMXFP4}};
}

// Written once: encoding K-quants is slow.
const std::filesystem::path& path_of(int index) {
  static const test::TempDir dir;
  static std::vector<std::filesystem::path> paths(models().size());
  const auto at = static_cast<std::size_t>(index);
  if (paths[at].empty()) {
    paths[at] = dir.path() / (std::to_string(index) + ".gguf");
    test::write_tiny_model(paths[at], models()[at]);
  }
  return paths[at];
}

class SameBitsTiny : public testing::TestWithParam<int> {
 protected:
  SameBitsTiny() {
    setup_.context = 128;
    setup_.max_batch_tokens = kTokens;
    setup_.arch = test::tiny_arch(models()[static_cast<std::size_t>(GetParam())].arch);
  }

  std::unique_ptr<Running> load(const RunSetup& setup) {
    auto model = run_model(path_, setup);
    EXPECT_TRUE(model) << to_string(model.error());
    return model ? *std::move(model) : nullptr;
  }

  std::vector<float> run(const RunSetup& setup, int chunk) {
    const auto model = load(setup);
    return model ? logits_of(*model, ids_, chunk) : std::vector<float>{};
  }

  std::filesystem::path path_ = path_of(GetParam());
  std::vector<TokenId> ids_ = some_ids(kTokens, test::kTinyVocab);
  RunSetup setup_;
};

TEST_P(SameBitsTiny, InChunksOfAnySize) {
  for (const KvType kv : {KvType::kF32, KvType::kBF16, KvType::kF16}) {
    setup_.kv = kv;
    const auto whole = run(setup_, kTokens);
    for (const int chunk : {1, 7, 64})
      EXPECT_TRUE(same_bits(run(setup_, chunk), whole)) << chunk << " tokens, " << name(kv);
  }
}

TEST_P(SameBitsTiny, OnAnyNumberOfThreads) {
  setup_.kv = KvType::kBF16;
  for (const int chunk : {1, kTokens}) {
    const auto one = run(setup_, chunk);
    for (const int threads : {2, 4}) {
      RunSetup more = setup_;
      more.threads = threads;
      EXPECT_TRUE(same_bits(run(more, chunk), one)) << threads << " threads, chunks of " << chunk;
    }
  }
}

TEST_P(SameBitsTiny, OnEveryInstructionSet) {
  setup_.isa = Isa::kScalar;
  const auto scalar = run(setup_, kTokens);
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!is_supported(isa)) continue;
    setup_.isa = isa;
    for (const int chunk : {1, kTokens})
      EXPECT_TRUE(same_bits(run(setup_, chunk), scalar)) << name(isa) << ", chunks of " << chunk;
  }
}

TEST_P(SameBitsTiny, AloneAndBesideOtherSequences) {
  const auto alone = run(setup_, kTokens);
  setup_.max_seqs = 3;
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  // Sequence 1 holds the text; 0 runs ahead of it, 2 behind, with other tokens.
  std::vector<float> together;
  const auto vocab = static_cast<std::size_t>(test::kTinyVocab);
  constexpr int kStep = 20;
  for (int begin = 0; begin < kTokens; begin += kStep) {
    Slice slice;
    for (SeqId seq = 0; seq < 3; ++seq) {
      const int n = seq == 1 ? kStep : 3 + seq;
      const int at = seq == 1 ? begin : begin / kStep * n;
      ASSERT_TRUE(model->memory.extend(seq, at + n));
      for (int i = 0; i < n; ++i) {
        const auto id = static_cast<std::size_t>(at + i);
        slice.add(seq, at + i, seq == 1 ? ids_[id] : ids_[kTokens - 1 - id]);
      }
    }
    model->decoder.launch(slice.batch(), model->memory);
    const auto logits = model->decoder.logits();
    ASSERT_TRUE(logits);
    const auto own = logits->subspan(3 * vocab, kStep * vocab);
    together.insert(together.end(), own.begin(), own.end());
  }
  EXPECT_TRUE(same_bits(together, alone));
}

TEST_P(SameBitsTiny, FromASharedPrefix) {
  const auto alone = run(setup_, kTokens);
  setup_.max_seqs = 2;
  const auto model = load(setup_);
  ASSERT_NE(model, nullptr);
  logits_of(*model, ids_, kTokens);
  const auto blocks = model->memory.blocks(0);
  model->memory.attach(1, blocks.first(3), blocks[3], 2);  // 50 positions
  model->memory.rollback(0, 40);  // sequence 0 goes elsewhere, in a block that 1 still reads
  const auto append = [&](SeqId seq, Pos begin, const std::vector<TokenId>& ids) {
    EXPECT_TRUE(model->memory.extend(seq, kTokens));
    Slice slice;
    for (Pos pos = begin; pos < kTokens; ++pos)
      slice.add(seq, pos, ids[static_cast<std::size_t>(pos)]);
    model->decoder.launch(slice.batch(), model->memory);
    const auto logits = model->decoder.logits();
    return std::vector<float>(logits->begin(), logits->end());
  };
  append(0, 40, std::vector<TokenId>(kTokens, 7));
  const auto rest = append(1, 50, ids_);
  const std::vector<float> want(alone.end() - static_cast<std::ptrdiff_t>(rest.size()),
                                alone.end());
  EXPECT_TRUE(same_bits(rest, want));
}

std::string type_name(const testing::TestParamInfo<int>& info) {
  const test::TinyModel model = models()[static_cast<std::size_t>(info.param)];
  const bool is_latent = model.latent > 0;
  return (is_latent ? "latent" : model.arch) + "_" + std::string(dtype_info(model.type).name);
}

INSTANTIATE_TEST_SUITE_P(Models, SameBitsTiny, testing::Range(0, 7), type_name);

class ModelSameBits : public testing::Test {
 protected:
  static std::vector<std::uint64_t> run(const RunSetup& setup, int n, int chunk) {
    auto model = run_model(default_model(), setup);
    EXPECT_TRUE(model) << to_string(model.error());
    if (!model) return {};
    return row_hashes(**model, some_ids(n, (*model)->decoder.spec().vocab), chunk);
  }
};

TEST_F(ModelSameBits, InChunksOfAnySize) {
  RunSetup setup{.threads = 2, .kv = KvType::kBF16, .context = 512, .max_batch_tokens = 512};
  const auto whole = run(setup, 512, 512);
  ASSERT_EQ(whole.size(), 512U);
  for (const int chunk : {1, 7, 64})
    EXPECT_EQ(run(setup, 512, chunk), whole) << "chunks of " << chunk;
}

TEST_F(ModelSameBits, OnAnyNumberOfThreads) {
  RunSetup setup{.threads = 1, .kv = KvType::kBF16, .context = 512, .max_batch_tokens = 512};
  const auto one = run(setup, 512, 512);
  ASSERT_EQ(one.size(), 512U);
  for (const int threads : {2, 4}) {
    setup.threads = threads;
    EXPECT_EQ(run(setup, 512, 512), one) << threads << " threads";
  }
}

TEST_F(ModelSameBits, OnEveryInstructionSet) {
  RunSetup setup{.isa = Isa::kScalar, .threads = 2, .context = 64, .max_batch_tokens = 64};
  const auto scalar = run(setup, 48, 48);
  ASSERT_EQ(scalar.size(), 48U);
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!is_supported(isa)) continue;
    setup.isa = isa;
    EXPECT_EQ(run(setup, 48, 48), scalar) << name(isa);
    EXPECT_EQ(run(setup, 48, 1), scalar) << name(isa) << ", one token at a time";
  }
}

}  // namespace
}  // namespace wick
