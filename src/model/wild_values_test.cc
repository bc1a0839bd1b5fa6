// Models that hold NaN, infinities and huge values in any tensor: the same bits from any chunks,
// threads, other requests, instruction sets and shared prefixes, with every type of cache.
// WICK_TEST_WILD_MODELS sets how many are tried.
#include <cmath>
#include <cstdio>

#include "model/run_test.h"
#include "model/tiny_archs_test.h"
#include "support/temp_dir.h"
#include "support/wild_model.h"

namespace wick {
namespace {

constexpr int kTokens = 60;
constexpr int kShared = 37;  // positions of a prefix that ends inside a block

std::vector<TokenId> wild_ids(std::uint32_t seed) {
  std::vector<TokenId> ids = some_ids(kTokens + static_cast<int>(seed % 64), test::kWildTokens);
  return {ids.end() - kTokens, ids.end()};
}

class SameBitsWild : public testing::Test {
 protected:
  std::unique_ptr<Running> load(const RunSetup& setup) {
    auto model = run_model(path_, setup);
    EXPECT_TRUE(model) << (model ? "" : to_string(model.error()));
    return model ? *std::move(model) : nullptr;
  }

  std::vector<float> run(const RunSetup& setup, int chunk) {
    const auto model = load(setup);
    return model ? logits_of(*model, ids_, chunk) : std::vector<float>{};
  }

  // Logits of the rows behind the first kShared, from positions that another text has computed and
  // goes on behind, with any tokens.
  std::vector<float> run_from_prefix(RunSetup setup) {
    setup.max_seqs = 2;
    const auto model = load(setup);
    if (model == nullptr) return {};
    std::vector<TokenId> other = ids_;
    for (std::size_t i = kShared; i < other.size(); ++i)
      other[i] = static_cast<TokenId>((i * 29 + 7) % test::kWildTokens);
    logits_of(*model, other, kTokens);
    const auto blocks = model->memory.blocks(0);
    model->memory.attach(1, blocks.first(kShared / 16), blocks[kShared / 16], kShared % 16);
    std::vector<float> all;
    for (int begin = kShared; begin < kTokens; begin += 9) {
      const int end = std::min(kTokens, begin + 9);
      EXPECT_TRUE(model->memory.extend(1, end));
      Slice slice;
      for (Pos pos = begin; pos < end; ++pos)
        slice.add(1, pos, ids_[static_cast<std::size_t>(pos)]);
      model->decoder.launch(slice.batch(), model->memory);
      const auto logits = model->decoder.logits();
      all.insert(all.end(), logits->begin(), logits->end());
    }
    return all;
  }

  // Each position in its own pass, beside a sequence that computes anything.
  std::vector<float> run_beside(RunSetup setup) {
    setup.max_seqs = 2;
    const auto model = load(setup);
    if (model == nullptr) return {};
    std::vector<float> all;
    for (Pos pos = 0; pos < kTokens; ++pos) {
      Slice slice;
      for (SeqId seq = 0; seq < 2; ++seq) {
        EXPECT_TRUE(model->memory.extend(seq, pos + 1));
        slice.add(seq, pos,
                  seq == 0 ? static_cast<TokenId>((pos * 5) % test::kWildTokens)
                           : ids_[static_cast<std::size_t>(pos)]);
      }
      model->decoder.launch(slice.batch(), model->memory);
      const auto logits = model->decoder.logits();
      all.insert(all.end(), logits->begin() + test::kTinyVocab, logits->end());
    }
    return all;
  }

  void try_model(std::uint32_t seed) {
    const test::TinyModel tiny = test::wild_model(seed);
    test::write_tiny_model(path_, tiny);
    ids_ = wild_ids(seed);
    for (const KvType kv : kKvTypes) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", cache " + std::string(name(kv)));
      RunSetup setup{
          .kv = kv, .context = 64, .max_batch_tokens = kTokens, .arch = test::tiny_arch(tiny.arch)};
      const auto want = run(setup, kTokens);
      const auto vocab = static_cast<std::ptrdiff_t>(test::kTinyVocab);
      n_rows_ += kTokens;
      for (int row = 0; row < kTokens; ++row)
        n_good_ += std::isnan(want[static_cast<std::size_t>(row * vocab)]) ? 0 : 1;
      for (const int chunk : {1, 7, 16, 33})
        EXPECT_TRUE(same_bits(run(setup, chunk), want)) << "chunks of " << chunk;
      EXPECT_TRUE(same_bits(run_beside(setup), want)) << "beside another sequence";
      const std::vector<float> rest(want.begin() + kShared * vocab, want.end());
      EXPECT_TRUE(same_bits(run_from_prefix(setup), rest)) << "from a shared prefix";
      for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
        if (!is_supported(isa)) continue;
        setup.isa = isa;
        EXPECT_TRUE(same_bits(run(setup, 20), want)) << name(isa);
      }
      setup.threads = 2;
      EXPECT_TRUE(same_bits(run(setup, 11), want)) << "two threads";
    }
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "wild.gguf";
  std::vector<TokenId> ids_;
  int n_rows_ = 0, n_good_ = 0;
};

TEST_F(SameBitsWild, WhateverComputesAModelOfAnyValues) {
  const char* const text = std::getenv("WICK_TEST_WILD_MODELS");
  const int n_models = text == nullptr ? 12 : std::atoi(text);
  for (int seed = 1; seed <= n_models && !HasFailure(); ++seed)
    try_model(static_cast<std::uint32_t>(seed));
  std::printf("%d models, %d of %d rows begin with a number\n", n_models, n_good_, n_rows_);
  EXPECT_GT(n_good_, 0) << "every row was NaN";
  EXPECT_LT(n_good_, n_rows_) << "no row was NaN";
}

}  // namespace
}  // namespace wick
