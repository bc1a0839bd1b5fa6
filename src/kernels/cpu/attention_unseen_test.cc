// Positions that a query does not see: NaN, infinities and huge values there change no bit of its
// answer, with every cache type, on every ISA, in tiles of any size and in ranges computed apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/attention_fixture_test.h"

namespace wick::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kBad[] = {kNan, kInfinity, -kInfinity, 60000};

// One head's key or value at `slot` of a block becomes `bad`; in tiles the scale does, quants stay.
void spoil(CacheType type, bool is_key, int dim, std::byte* block, int slot, float bad) {
  if (is_tiled(type)) {
    const std::uint16_t scale = f32_to_f16(bad);
    for (int d = 0; d < dim; d += kCacheTile)
      std::memcpy(block + block_bytes(type, d) + 2 * slot, &scale, 2);
    return;
  }
  for (int d = 0; d < dim; ++d) {
    const bool is_f32 = type == CacheType::kF32;
    const int key_at = is_f32 ? d * 16 + slot : (d / 2 * 16 + slot) * 2 + d % 2;
    const int value_at = is_f32 ? slot * dim + d : (slot / 2 * dim + d) * 2 + slot % 2;
    put(type, block, static_cast<std::size_t>(is_key ? key_at : value_at), bad);
  }
}

void spoil(const Case& c, Cache& cache, int position, float bad) {
  const auto block = static_cast<std::size_t>(cache.table[static_cast<std::size_t>(position / 16)]);
  const int slot = position % 16;
  spoil(c.k_type, true, c.k_dim, cache.k.data() + block * cache.k_bytes, slot, bad);
  if (!c.is_latent)
    spoil(c.v_type, false, c.v_dim, cache.v.data() + block * cache.v_bytes, slot, bad);
}

bool sees(const Case& c, int query, int position) {
  return position < c.end(query) && (c.window == 0 || position > query - c.window);
}

// Every pair of types, with and without a window, with dimensions that are whole vectors and that
// are not; then a past of several ranges.
std::vector<Case> unseen_cases() {
  std::vector<Case> all;
  const CacheType types[] = {CacheType::kF32, CacheType::kBF16, CacheType::kF16, CacheType::kQ8_0,
                             CacheType::kQ4_0};
  for (const CacheType k : types) {
    for (const CacheType v : types) {
      all.push_back({.k_dim = 32, .v_dim = 64, .group = 3, .n = 40, .k_type = k, .v_type = v});
      all.push_back(
          {.k_dim = 32, .v_dim = 32, .group = 2, .n = 50, .window = 20, .k_type = k, .v_type = v});
    }
    const int odd = is_tiled(k) ? 96 : 34, small = is_tiled(k) ? 32 : 6;
    all.push_back({.k_dim = 32, .v_dim = odd, .n = 37, .window = 7, .k_type = k, .v_type = k});
    all.push_back({.k_dim = 32, .v_dim = small, .group = 7, .n = 21, .k_type = k, .v_type = k});
    all.push_back({.k_dim = 32, .v_dim = 64, .n = 530, .window = 261, .k_type = k, .v_type = k});
    all.push_back({.k_dim = 64, .v_dim = 32, .group = 5, .n = 40, .k_type = k, .is_latent = true});
    all.push_back({.k_dim = 64, .v_dim = 32, .n = 275, .k_type = k, .is_latent = true});
  }
  all.push_back({.k_dim = 32, .v_dim = 34, .n = 53, .sees_all = true});
  all.push_back({.k_dim = 32, .v_dim = 34, .n = 53, .window = 9, .sees_all = true});
  return all;
}

Floats random_queries(const Case& c, std::mt19937& engine) {
  std::normal_distribution<float> normal(0, 2);
  Floats q(static_cast<std::size_t>(c.n * c.group * c.k_dim));
  for (float& x : q)
    x = normal(engine);
  return q;
}

// Query `p`'s share of what attend_all returns.
Floats of_query(const Case& c, const Floats& all, int p) {
  const auto width = static_cast<std::ptrdiff_t>(c.group) * c.v_dim;
  return {all.begin() + width * p, all.begin() + width * (p + 1)};
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The same bits but for those of a NaN, which depend on the order of operands.
bool same_values(const Floats& a, const Floats& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::isnan(x) ? std::isnan(y) : std::memcmp(&x, &y, sizeof(x)) == 0;
  });
}

using SameBitsUnseen = testing::TestWithParam<Isa>;

TEST_P(SameBitsUnseen, APositionThatAQueryDoesNotSeeMayHoldAnything) {
  const VectorKernels& kernels = vector_kernels(GetParam());
  std::mt19937 engine(21);
  for (const Case& c : unseen_cases()) {
    const Cache clean = make_cache(c, engine);
    const Floats q = random_queries(c, engine);
    const int n_blocks = static_cast<int>(clean.table.size());
    for (const int p : {0, 1, 15, 16, 18, c.n - 3, c.n - 1}) {
      if (p >= c.n) continue;
      const Floats want = attend_by_ranges(kernels, c, clean, q, p);
      for (const float bad : kBad) {
        Cache spoiled = clean;
        for (int i = 0; i < 16 * n_blocks; ++i) {
          if (!sees(c, p, i)) spoil(c, spoiled, i, bad);
        }
        ASSERT_TRUE(same_bits(attend_by_ranges(kernels, c, spoiled, q, p), want))
            << c.label() << ", query " << p << " among " << bad;
      }
    }
  }
}

TEST_P(SameBitsUnseen, ABadPositionReachesThoseWhoSeeItInTilesOfAnySize) {
  const VectorKernels& kernels = vector_kernels(GetParam());
  std::mt19937 engine(22);
  for (const Case& c : unseen_cases()) {
    const Cache clean = make_cache(c, engine);
    const Floats q = random_queries(c, engine);
    const Floats want = attend_all(kernels, c, clean, q, 1);
    const bool is_long = c.n > 100;  // slow in plain C++
    for (const int at : {3, 17, c.n - 2}) {
      for (const float bad : {kNan, kInfinity}) {
        if (is_long && (at == 3 || bad == kInfinity)) continue;
        Cache spoiled = clean;
        spoil(c, spoiled, at, bad);
        const Floats by_one = attend_all(kernels, c, spoiled, q, 1);
        for (const int tile : {1, 5, 16}) {
          const Floats got = attend_all(kernels, c, spoiled, q, tile);
          EXPECT_TRUE(same_values(got, by_one)) << c.label() << ", tiles of " << tile;
          for (int p = 0; p < c.n; ++p) {
            const Floats one = of_query(c, got, p);
            if (!sees(c, p, at)) {
              ASSERT_TRUE(same_bits(one, of_query(c, want, p)))
                  << c.label() << ", query " << p << ", " << bad << " at " << at << ", tiles of "
                  << tile;
            } else if (std::isnan(bad)) {
              ASSERT_TRUE(std::all_of(one.begin(), one.end(), [](float x) { return x != x; }))
                  << c.label() << ", query " << p << " sees a NaN at " << at;
            }
          }
        }
      }
    }
  }
}

// With bf16 keys the query is rounded by its bits: 0x7fffffff would become -0.
TEST_P(SameBitsUnseen, AQueryThatIsNotFiniteStaysSoWhateverItsBits) {
  const VectorKernels& kernels = vector_kernels(GetParam());
  std::mt19937 engine(23);
  for (const CacheType type :
       {CacheType::kF32, CacheType::kBF16, CacheType::kF16, CacheType::kQ8_0, CacheType::kQ4_0}) {
    const Case c{.k_dim = 32, .v_dim = 32, .n = 20, .k_type = type, .v_type = type};
    const Cache cache = make_cache(c, engine);
    Floats q = random_queries(c, engine);
    for (const std::uint32_t bits : {0x7fffffffU, 0xffffffffU, 0x7fc00000U, 0x7f800001U}) {
      std::memcpy(&q[19 * 32 + 5], &bits, sizeof(bits));
      const Floats got = attend_by_ranges(kernels, c, cache, q, 19);
      EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](float x) { return x != x; }))
          << c.label() << ", bits " << bits;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsUnseen, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(name(isa.param)); });

}  // namespace
}  // namespace wick::test
