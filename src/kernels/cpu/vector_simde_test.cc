// The AVX-512 vector kernels, their instructions emulated by SIMDe on AVX2, against the scalar
// reference bit for bit: so the code is tested on machines without AVX-512. Compiled with
// -DWICK_SIMDE and AVX2 flags (cmake/modules.cmake).
#include "kernels/cpu/lanes_avx512.h"
#include "kernels/cpu/vector_body.h"
// After the kernels, whose headers bring the emulated instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/isa.h"

namespace wick {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, 2);
  Floats out(n);
  for (float& x : out)
    x = normal(engine);
  return out;
}

bool same_bits(const Floats& a, const Floats& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The value of one position becomes zero.
void clear_value(CacheType type, int dim, std::byte* block, int slot) {
  const auto zero = [block](int at, int n) {
    std::memset(block + at, 0, static_cast<std::size_t>(n));
  };
  const int tile_bytes = type == CacheType::kQ8_0 ? 32 + 512 : 32 + 256;
  switch (type) {
    case CacheType::kF32:
      return zero(4 * slot * dim, 4 * dim);
    case CacheType::kBF16:
    case CacheType::kF16:
      for (int d = 0; d < dim; ++d)
        zero(4 * (slot / 2 * dim + d) + 2 * (slot % 2), 2);
      return;
    default:
      for (int tile = 0; tile < dim / 32; ++tile)
        zero(tile * tile_bytes + 2 * slot, 2);
  }
}

// The ISA that runs the emulation: without it there are no tests.
std::vector<Isa> hosts() {
  return is_supported(Isa::kAvx2) ? std::vector{Isa::kAvx2} : std::vector<Isa>();
}

class SameBitsEmulatedAvx512 : public testing::TestWithParam<Isa> {
 protected:
  const VectorKernels& scalar_ = vector_kernels(Isa::kScalar);
};

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsEmulatedAvx512, testing::ValuesIn(hosts()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SameBitsEmulatedAvx512);

TEST_P(SameBitsEmulatedAvx512, NormsGatesAndRotations) {
  for (const int n : {2, 16, 34, 100, 576}) {
    const auto size = static_cast<std::size_t>(n);
    Floats x = random_floats(size, 1);
    x[0] = -100;
    const Floats gain = random_floats(size, 2);
    Floats want(size), got(size);
    scalar_.rms_norm({.x = x.data(), .gain = gain.data(), .eps = 1e-5F, .n = n, .y = want.data()});
    rms_norm_kernel({.x = x.data(), .gain = gain.data(), .eps = 1e-5F, .n = n, .y = got.data()});
    EXPECT_TRUE(same_bits(got, want)) << "rms_norm of " << n;
    scalar_.layer_norm({.x = x.data(), .gain = gain.data(), .n = n, .y = want.data()});
    layer_norm_kernel({.x = x.data(), .gain = gain.data(), .n = n, .y = got.data()});
    EXPECT_TRUE(same_bits(got, want)) << "layer_norm of " << n;
    want = got = x;
    scalar_.soft_cap(want.data(), 5, n);
    soft_cap_kernel(got.data(), 5, n);
    EXPECT_TRUE(same_bits(got, want)) << "soft cap of " << n;
    for (int kind = 0; kind < kGateKinds; ++kind) {
      scalar_.gate[kind](x.data(), gain.data(), n, want.data());
      kLaneKernels.gate[kind](x.data(), gain.data(), n, got.data());
      EXPECT_TRUE(same_bits(got, want)) << "gate " << kind << " of " << n;
    }
    want = got = x;
    scalar_.rotate_halves(want.data(), gain.data(), gain.data() + n / 2, n);
    rotate_halves_kernel(got.data(), gain.data(), gain.data() + n / 2, n);
    scalar_.add_scaled(want.data(), gain.data(), 0.3F, n);
    add_scaled_kernel(got.data(), gain.data(), 0.3F, n);
    EXPECT_TRUE(same_bits(got, want)) << "rotation and sum of " << n;
  }
}

// One head of random 16-bit values; every finite bit pattern is as good as another.
TEST_P(SameBitsEmulatedAvx512, AttentionWithEveryCacheType) {
  constexpr int kPositions = 300, kDim = 64, kGroup = 7;
  constexpr std::size_t kBlocks = (kPositions + 15) / 16;
  constexpr std::size_t kBytes[] = {64, 32, 32, 17, 9};  // of a feature in a block, by CacheType
  for (const CacheType type :
       {CacheType::kF32, CacheType::kBF16, CacheType::kF16, CacheType::kQ8_0, CacheType::kQ4_0}) {
    const Floats floats = random_floats(kBlocks * 16 * kDim, 3);
    std::vector<std::byte> cache(floats.size() * sizeof(float));
    if (type == CacheType::kF32) {
      std::memcpy(cache.data(), floats.data(), cache.size());
    } else {
      std::mt19937 engine(4);
      for (std::size_t i = 0; i < cache.size(); i += 2) {
        auto bits = static_cast<std::uint16_t>(engine() & 0xbfffU);
        // Exponents near one in either format, so that sums stay finite.
        bits = static_cast<std::uint16_t>((bits & 0x83ffU) | 0x3800U);
        std::memcpy(cache.data() + i, &bits, 2);
      }
    }
    std::vector<std::int32_t> table(kBlocks);
    for (std::size_t b = 0; b < kBlocks; ++b)
      table[b] = static_cast<std::int32_t>(b);
    const Floats q = random_floats(16 * kGroup * kDim, 5);
    Floats want(q.size()), got(q.size());
    Floats scratch(attention_scratch_floats(16 * kGroup, kDim, kDim));
    AttentionArgs args{.k = cache.data(),
                       .v = cache.data(),
                       .k_stride = kDim * kBytes[static_cast<int>(type)],
                       .v_stride = kDim * kBytes[static_cast<int>(type)],
                       .k_type = type,
                       .v_type = type,
                       .table = table.data(),
                       .k_dim = kDim,
                       .v_dim = kDim,
                       .group = kGroup,
                       .scale = 0.01F,
                       .q = q.data(),
                       .q_stride = kGroup * kDim,
                       .y_stride = kGroup * kDim,
                       .scratch = scratch.data()};
    for (const int window : {0, 30}) {
      for (const int position : {0, 16, 270, 288}) {
        args.window = window;
        args.position = position;
        args.n_tokens = position % 16 == 0 ? 12 : 1;
        args.y = want.data();
        scalar_.attend(args);
        args.y = got.data();
        attend_kernel(args);
        EXPECT_TRUE(same_bits(got, want))
            << "type " << static_cast<int>(type) << " at " << position;
      }
    }
  }
}

// Caches whose unseen bytes are all 0xff, which is NaN in every type and as a scale of tiles.
TEST_P(SameBitsEmulatedAvx512, AttentionLeavesOutWhatAQueryDoesNotSee) {
  constexpr int kDim = 64, kGroup = 3, kPosition = 21;
  constexpr std::size_t kBytes[] = {64, 32, 32, 17, 9};  // of a feature in a block, by CacheType
  const std::int32_t table[] = {0, 1};
  const Floats q = random_floats(16 * kGroup * kDim, 6);
  Floats scratch(attention_scratch_floats(16 * kGroup, kDim, kDim));
  for (const CacheType type :
       {CacheType::kF32, CacheType::kBF16, CacheType::kF16, CacheType::kQ8_0, CacheType::kQ4_0}) {
    const std::size_t block = kDim * kBytes[static_cast<int>(type)];
    AttentionArgs args{.k_stride = block,
                       .v_stride = block,
                       .k_type = type,
                       .v_type = type,
                       .table = table,
                       .k_dim = kDim,
                       .v_dim = kDim,
                       .group = kGroup,
                       .position = kPosition,
                       .n_tokens = 1,
                       .scale = 0.01F,
                       .q = q.data(),
                       .q_stride = kGroup * kDim,
                       .y_stride = kGroup * kDim,
                       .scratch = scratch.data()};
    for (const int window : {0, 9}) {
      Floats y[2] = {Floats(kGroup * kDim), Floats(kGroup * kDim)};
      for (const int fill : {0, 0xff}) {
        std::vector<std::byte> values(2 * block, static_cast<std::byte>(fill));
        const std::vector<std::byte> keys(2 * block, std::byte{0});
        // What the query sees of the values is zero: with rows of a position that follow each other
        // that is a range of bytes, in tiles the scales.
        const int first = window == 0 ? 0 : kPosition - window + 1;
        for (int p = first; p <= kPosition; ++p)
          clear_value(type, kDim, values.data() + static_cast<std::size_t>(p / 16) * block, p % 16);
        args.k = keys.data();
        args.v = values.data();
        args.window = window;
        args.y = y[fill == 0 ? 0 : 1].data();
        attend_kernel(args);
      }
      EXPECT_TRUE(same_bits(y[0], y[1])) << "type " << static_cast<int>(type);
    }
  }
}

}  // namespace
}  // namespace wick
