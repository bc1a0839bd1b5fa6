// The ops of latent attention against plain computations in double precision.
#include <cmath>
#include <string>

#include "backend/cpu/ops_fixture_test.h"

namespace wick::test {
namespace {

constexpr int kHeads = 3, kRows = 70;  // tokens, more than a chunk has

class LatentVerbs : public testing::TestWithParam<DType> {
 protected:
  std::unique_ptr<Backend> backend(int threads, int max_cols, const RopeParams& rope) {
    return *device_->create_backend({.max_batch_tokens = kRows,
                                     .max_cols = max_cols,
                                     .max_heads = kHeads,
                                     .max_head_dim = 96,
                                     .max_context = 200,
                                     .max_seqs = 2,
                                     .threads = threads},
                                    std::span(&rope, 1));
  }

  OnDevice tensor(Floats& data, int cols) {
    return {*device_, data, static_cast<int>(data.size()) / cols, cols};
  }

  std::unique_ptr<Device> device_ = make_device(*choose_isa());
  Weights weights_{*device_};
};

// Heads of 40 columns of which 32 are read; 5 + 20 + 1 rows for each head, of which 20 are
// computed.
TEST_P(LatentVerbs, HeadsHaveProductsOfTheirOwn) {
  constexpr int kIn = 32, kShare = 40, kOut = 20, kOutShare = 24, kFirst = 5, kAll = 26;
  const Weight* const w = weights_.matrix(GetParam(), kHeads * kAll, kIn, 1);
  Floats x = random_floats(kRows * kHeads * kShare, 2);
  const Floats& values = weights_.values_of(w);
  std::vector<Floats> seen;
  for (const int threads : {1, 2}) {
    Floats y(static_cast<std::size_t>(kRows * kHeads * kOutShare), -7.0F);
    backend(threads, kHeads * kShare, {.layout = RopeParams::kNone})
        ->linear_heads(tensor(y, kHeads * kOutShare), tensor(x, kHeads * kShare),
                       {.w = w, .n_heads = kHeads, .first_row = kFirst, .rows = kOut});
    seen.push_back(y);
  }
  EXPECT_EQ(seen[0], seen[1]);
  // A block format rounds x to 8 bits of the largest of a group.
  const double bound = GetParam() == DType::kF32 ? 1e-5 : 0.05;
  for (int t = 0; t < kRows; ++t) {
    for (int i = 0; i < kHeads * kOutShare; ++i) {
      const int head = i / kOutShare, row = i % kOutShare;
      const float got = seen[0][static_cast<std::size_t>(t * kHeads * kOutShare + i)];
      if (row >= kOut) {
        ASSERT_EQ(got, -7.0F) << "what no row is computed for stays";
        continue;
      }
      double want = 0;
      for (int c = 0; c < kIn; ++c) {
        want += static_cast<double>(
                    values[static_cast<std::size_t>((head * kAll + kFirst + row) * kIn + c)]) *
                x[static_cast<std::size_t>((t * kHeads + head) * kShare + c)];
      }
      ASSERT_NEAR(got, want, bound) << "token " << t << ", head " << head << ", row " << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LatentVerbs,
                         testing::Values(DType::kF32, DType::kBF16, DType::kQ8_0, DType::kQ4_1),
                         [](const auto& type) { return std::string(dtype_info(type.param).name); });

// Tokens of two sequences; each sees the latents of its own past, through the cache's keys.
TEST_F(LatentVerbs, KeysAreNormalisedLatentsAndARotatedPart) {
  constexpr int kRank = 32, kRope = 8, kKey = kRank + kRope, kNope = 6, kEach = kRows / 2;
  const RopeParams rope{.layout = RopeParams::kPairs, .dim = kRope};
  const QkNormRope head{.k_gain = weights_.vector(kRank, 3, 1), .rope = rope};
  const Floats& gain = weights_.values_of(head.k_gain);
  const Floats x = random_floats(kRows * kHeads * (kNope + kRope), 4);
  const Floats c = random_floats(kRows * kKey, 5);
  const auto rotated = [](const float* from, Pos pos) {
    std::vector<double> out(from, from + kRope);
    for (std::size_t i = 0; i < kRope; i += 2) {
      const double angle = pos / std::pow(1e4, static_cast<double>(i) / kRope);
      const double a = out[i], b = out[i + 1];
      out[i] = a * std::cos(angle) - b * std::sin(angle);
      out[i + 1] = b * std::cos(angle) + a * std::sin(angle);
    }
    return out;
  };
  const auto table = make_table(*device_, std::array{5, 1, 3, 0, 4, 2});
  const std::size_t bytes = kv_head_block_bytes(KvType::kF32, kKey);
  const auto keys = allocate(*device_, 6 * bytes);
  const KvView view{.k = keys->data(),
                    .v = nullptr,
                    .k_type = KvType::kF32,
                    .v_type = KvType::kF32,
                    .n_kv_heads = 1,
                    .k_dim = kKey,
                    .v_dim = kRank,
                    .tables = table_in(*table),
                    .table_stride = 3};
  std::vector<Pos> positions;
  std::vector<SeqId> seqs;
  for (int i = 0; i < kRows; ++i) {
    positions.push_back(i % kEach);
    seqs.push_back(i / kEach);
  }
  Floats q(static_cast<std::size_t>(kRows * kHeads * kKey), 0.5F), own_x = x, own_c = c;
  backend(2, kHeads * kKey, rope)
      ->latent(tensor(q, kHeads * kKey), tensor(own_x, kHeads * (kNope + kRope)),
               tensor(own_c, kKey), head, view, {.positions = positions, .seqs = seqs});
  const std::vector<std::byte> stored = bytes_of(*keys);
  const int blocks[] = {5, 1, 3, 0, 4, 2};
  for (int t = 0; t < kRows; ++t) {
    const Pos pos = t % kEach;
    for (int h = 0; h < kHeads; ++h) {
      const auto want =
          rotated(&x[static_cast<std::size_t>((t * kHeads + h) * (kNope + kRope) + kNope)], pos);
      const float* const got = &q[static_cast<std::size_t>((t * kHeads + h) * kKey)];
      EXPECT_EQ(got[kRank - 1], 0.5F) << "the latent part is another op's";
      for (std::size_t i = 0; i < kRope; ++i)
        ASSERT_NEAR(got[kRank + i], want[i], 1e-5) << "token " << t << ", head " << h;
    }
    const float* const latent = &c[static_cast<std::size_t>(t * kKey)];
    double square = 0;
    for (int i = 0; i < kRank; ++i)
      square += static_cast<double>(latent[i]) * latent[i] / kRank;
    const auto part = rotated(latent + kRank, pos);
    const auto block = static_cast<std::size_t>(blocks[t / kEach * 3 + pos / kBlockTokens]);
    for (std::size_t i = 0; i < kKey; ++i) {
      const double want =
          i < kRank ? latent[i] * gain[i] / std::sqrt(square + 1e-6) : part[i - kRank];
      float got = 0;
      const std::size_t slot = i * kBlockTokens + static_cast<std::size_t>(pos % kBlockTokens);
      std::memcpy(&got, &stored[block * bytes + 4 * slot], 4);
      ASSERT_NEAR(got, want, 1e-5) << "token " << t << ", feature " << i;
    }
  }
}

}  // namespace
}  // namespace wick::test
