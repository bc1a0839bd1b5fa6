// The promise of docs/numerics.md on whole sequences of ops: neither threads nor chunks, other
// requests or instruction sets change a bit; and the ops neither allocate nor lock.
#include <cstring>

#include "backend/cpu/ops_fixture_test.h"
#include "base/hot_scope.h"
#include "support/hot_counters.h"

namespace wick::test {
namespace {

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<LayerShape> shapes() {
  return {{.type = DType::kF32, .kv_type = KvType::kF32},
          {.type = DType::kBF16, .kv_type = KvType::kBF16, .layout = RopeParams::kPairs},
          {.type = DType::kQ8_0, .head_dim = 32, .kv_type = KvType::kBF16},
          {.type = DType::kQ8_0, .head_dim = 32, .kv_type = KvType::kQ8_0},
          {.type = DType::kF32, .head_dim = 64, .kv_type = KvType::kQ4_0},
          {.type = DType::kQ4_1,
           .n_heads = 3,
           .n_kv_heads = 3,
           .head_dim = 64,
           .kv_type = KvType::kF16,
           .layout = RopeParams::kPairs},
          {.type = DType::kQ8_0,
           .n_heads = 8,
           .n_kv_heads = 1,
           .head_dim = 16,
           .window = 37,
           .kv_type = KvType::kBF16}};
}

// Decoding token by token is chunks of 1; 290 positions reach the second range of 256.
constexpr int kTokens = 290;

TEST(SameBitsVerbs, ChunksOfAnySizeGiveTheLogitsOfSingleTokens) {
  for (const LayerShape& shape : shapes()) {
    Layer layer(supported_isas().back(), 2, shape);
    const Floats want = layer.forward_in_chunks(kTokens, 1, 0);
    for (const int chunk : {7, 16, 64}) {
      EXPECT_TRUE(same_bits(layer.forward_in_chunks(kTokens, chunk, chunk % 2), want))
          << dtype_info(shape.type).name << " in chunks of " << chunk;
    }
  }
}

TEST(SameBitsVerbs, AnyNumberOfThreadsGivesTheSameLogits) {
  for (const LayerShape& shape : shapes()) {
    Layer one(supported_isas().back(), 1, shape);
    const Floats want = one.forward_in_chunks(kTokens, 33, 0);
    for (const int threads : {2, 3, 4}) {
      Layer many(supported_isas().back(), threads, shape);
      for (const int chunk : {64, 1}) {  // one token: ranges of positions are split up
        EXPECT_TRUE(same_bits(many.forward_in_chunks(kTokens, chunk, 0), want))
            << dtype_info(shape.type).name << ", " << threads << " threads, chunk " << chunk;
      }
    }
  }
}

TEST(SameBitsVerbs, EveryInstructionSetGivesTheSameLogits) {
  for (LayerShape shape : shapes()) {
    shape.context = 96;
    Layer scalar(Isa::kScalar, 1, shape);
    const Floats want = scalar.forward_in_chunks(70, 23, 0);
    for (const Isa isa : supported_isas()) {
      Layer layer(isa, 1, shape);
      EXPECT_TRUE(same_bits(layer.forward_in_chunks(70, 64, 0), want))
          << dtype_info(shape.type).name << " on " << name(isa);
    }
  }
}

TEST(SameBitsVerbs, CompanionsInABatchDoNotMatter) {
  for (const LayerShape& shape : shapes()) {
    Layer apart(supported_isas().back(), 2, shape);
    const Floats want = apart.forward_in_chunks(24, 1, 0);
    Layer together(supported_isas().back(), 2, shape);
    together.forward_in_chunks(3, 3, 1);
    Floats got;
    for (int p = 0; p < 24; ++p) {  // sequence 1 runs three positions ahead
      const std::vector<TokenId> tokens = {(p * 7 + 3) % shape.vocab, p % shape.vocab};
      const std::vector<Pos> positions = {p, p + 3};
      const std::vector<SeqId> seqs = {0, 1};
      const Floats both =
          together.forward({.tokens = tokens, .positions = positions, .seqs = seqs});
      got.insert(got.end(), both.begin(), both.begin() + shape.vocab);
    }
    EXPECT_TRUE(same_bits(got, want)) << dtype_info(shape.type).name;
  }
}

TEST(HotPathVerbs, NeitherAllocateNorLock) {
  for (const LayerShape& shape : shapes()) {
    Layer layer(supported_isas().back(), 2, shape);
    std::vector<TokenId> tokens(64, 5);
    std::vector<Pos> positions;
    for (int p = 0; p < 64; ++p)
      positions.push_back(p);
    const std::vector<SeqId> seqs(64, 1);
    reset_hot_counts();
    {
      const HotScope hot;
      layer.run({.tokens = tokens, .positions = positions, .seqs = seqs});
      for (Pos p = 64; p < 300; ++p) {
        layer.run({.tokens = std::span(tokens).first(1),
                   .positions = std::span(&p, 1),
                   .seqs = std::span(seqs).first(1)});
      }
    }
    EXPECT_EQ(hot_counts().allocations, 0);
    EXPECT_EQ(hot_counts().frees, 0);
    EXPECT_EQ(hot_counts().locks, 0);
  }
}

}  // namespace
}  // namespace wick::test
