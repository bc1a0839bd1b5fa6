// Attention: every ISA, tile and split of the work against a scalar emulation written straight from
// docs/numerics.md ("Attention") bit for bit, and that emulation against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/attention_fixture_test.h"

namespace wick::test {
namespace {

// The order of docs/numerics.md, one query, written without regard to speed.
float exp2_reference(float t) {
  t = t < -120.0F ? -120.0F : t;
  const float n = std::nearbyint(t);
  const float f = t - n;
  const float c[] = {0.00133335581464284F, 0.00961812910762848F, 0.0555041086648216F,
                     0.240226506959101F,   0.693147180559945F,   1.0F};
  float y = 0.000154035303933816F;
  for (const float next : c)
    y = std::fma(y, f, next);
  return std::ldexp(y, static_cast<int>(n));
}

float tree(Floats lanes) {
  for (std::size_t step = 8; step >= 1; step /= 2) {
    for (std::size_t i = 0; i < step; ++i)
      lanes[i] += lanes[i + step];
  }
  return lanes[0];
}

// Index of the n-th term of a chain: ascending, 16-bit types odd before even in each pair.
int term(CacheType type, int n) {
  return type == CacheType::kBF16 || type == CacheType::kF16 ? n ^ 1 : n;
}

// Quantized keys: the query in steps of its largest magnitude over 32,767, tile by tile.
float quantized_score_reference(const Case& c, const Cache& cache, const float* q, int p) {
  float sum = 0;
  for (int tile = 0; tile < c.k_dim; tile += 32) {
    float top = 0;
    for (int i = 0; i < 32; ++i)
      top = std::max(top, std::abs(q[tile + i]));
    const float inverse = top < 0x1p-100F ? 0 : 32767 / top;
    const float query_scale = top < 0x1p-100F ? 0 : top / 32767;
    const auto at = static_cast<std::size_t>(p * c.k_dim + tile);
    std::int64_t count = 0;
    for (int i = 0; i < 32; ++i)
      count += static_cast<std::int64_t>(std::nearbyint(q[tile + i] * inverse)) *
               static_cast<std::int64_t>(cache.keys.quants[at + static_cast<std::size_t>(i)]);
    sum = std::fma(static_cast<float>(count), cache.keys.scales[at] * query_scale, sum);
  }
  return sum;
}

float score_reference(const Case& c, const Cache& cache, const float* q, int p) {
  if (is_tiled(c.k_type)) return quantized_score_reference(c, cache, q, p);
  float sum = 0;
  for (int i = 0; i < c.k_dim; ++i) {
    const int d = term(c.k_type, i);
    const auto at = static_cast<std::size_t>(p * c.k_dim + d);
    const float query = c.k_type == CacheType::kBF16 ? as_stored(c.k_type, q[d]) : q[d];
    sum = std::fma(cache.keys.quants[at], query, sum);
  }
  return sum;
}

struct State {
  float m = 0, s = 0;
  Floats o;
};

State range_reference(const Case& c, const Cache& cache, const float* q, int position, int range) {
  const int first = std::max(256 * range, c.window > 0 ? position - c.window + 1 : 0);
  const int last = std::min(256 * range + 256, c.end(position)) - 1;
  const float factor = (1 / std::sqrt(static_cast<float>(c.k_dim))) * 1.44269502F;
  Floats x, lanes(16, 0.0F), weights(256, 0.0F);
  for (int p = first; p <= last; ++p) {
    x.push_back(score_reference(c, cache, q, p) * factor);
  }
  if (c.soft_cap > 0) {  // whose own test is vector_test.cc's
    vector_kernels(Isa::kScalar)
        .soft_cap(x.data(), c.soft_cap * 1.44269502F, static_cast<int>(x.size()));
  }
  State state{.m = *std::max_element(x.begin(), x.end()), .s = 0, .o = {}};
  for (int p = first; p <= last; ++p) {
    const float weight = exp2_reference(x[static_cast<std::size_t>(p - first)] - state.m);
    lanes[static_cast<std::size_t>(p % 16)] += weight;
    weights[static_cast<std::size_t>(p % 256)] =
        c.v_type == CacheType::kBF16 && !c.is_latent ? as_stored(c.v_type, weight) : weight;
  }
  state.s = tree(lanes);
  for (int d = 0; d < c.v_dim; ++d) {
    if (c.is_latent) {
      Floats sums(16, 0.0F);
      for (int p = first; p <= last; ++p) {
        const auto at = static_cast<std::size_t>(p * c.v_dim + d);
        float& sum = sums[static_cast<std::size_t>(p % 16)];
        sum = std::fma(cache.values.quants[at],
                       weights[static_cast<std::size_t>(p % 256)] * cache.values.scales[at], sum);
      }
      state.o.push_back(tree(sums) + 0.0F);
      continue;
    }
    float sum = 0;
    for (int i = 0; i < 256; ++i) {
      const int p = 256 * range + term(c.v_type, i);
      if (p < first || p > last) continue;
      const auto at = static_cast<std::size_t>(p * c.v_dim + d);
      const float weight = weights[static_cast<std::size_t>(p % 256)];
      sum = std::fma(cache.values.quants[at], weight * cache.values.scales[at], sum);
    }
    state.o.push_back(sum + 0.0F);
  }
  return state;
}

Floats attend_reference(const Case& c, const Cache& cache, const float* q, int position,
                        int head) {
  const int first = std::max(0, c.window > 0 ? position - c.window + 1 : 0);
  State state = range_reference(c, cache, q, position, first / 256);
  for (int range = first / 256 + 1; range <= (c.end(position) - 1) / 256; ++range) {
    const State next = range_reference(c, cache, q, position, range);
    const float top = std::max(state.m, next.m);
    const float a = exp2_reference(state.m - top);
    const float b = exp2_reference(next.m - top);
    state.s = std::fma(state.s, a, next.s * b);
    for (std::size_t d = 0; d < state.o.size(); ++d) {
      state.o[d] = std::fma(state.o[d], a, next.o[d] * b);
    }
    state.m = top;
  }
  float inverse = 1 / state.s;
  if (!c.sinks.empty()) {
    const float sink = c.sinks[static_cast<std::size_t>(head)] * 1.44269502F;
    const float top = std::max(state.m, sink);
    const float keep = exp2_reference(state.m - top);
    inverse = keep / std::fma(state.s, keep, exp2_reference(sink - top));
  }
  for (float& o : state.o)
    o *= inverse;
  return state.o;
}

Floats attend_in_double(const Case& c, const Cache& cache, const float* q, int position,
                        int head) {
  const int first = std::max(0, c.window > 0 ? position - c.window + 1 : 0);
  std::vector<double> weights, out(static_cast<std::size_t>(c.v_dim), 0.0);
  for (int p = first; p < c.end(position); ++p) {
    double sum = 0;
    for (int d = 0; d < c.k_dim; ++d) {
      sum +=
          static_cast<double>(q[d]) * cache.keys.value(static_cast<std::size_t>(p * c.k_dim + d));
    }
    sum /= std::sqrt(static_cast<double>(c.k_dim));
    weights.push_back(c.soft_cap > 0 ? c.soft_cap * std::tanh(sum / c.soft_cap) : sum);
  }
  const double top = *std::max_element(weights.begin(), weights.end());
  double total =
      c.sinks.empty() ? 0.0 : std::exp(c.sinks[static_cast<std::size_t>(head)] - top);
  for (double& weight : weights)
    total += weight = std::exp(weight - top);
  for (int p = first; p < c.end(position); ++p) {
    for (int d = 0; d < c.v_dim; ++d) {
      out[static_cast<std::size_t>(d)] +=
          weights[static_cast<std::size_t>(p - first)] / total *
          cache.values.value(static_cast<std::size_t>(p * c.v_dim + d));
    }
  }
  return {out.begin(), out.end()};
}

using SameBitsAttention = testing::TestWithParam<Isa>;

TEST_P(SameBitsAttention, EveryTileAndSplitEqualsTheDefinition) {
  const VectorKernels& kernels = vector_kernels(GetParam());
  std::mt19937 engine(11);
  std::normal_distribution<float> normal(0, 2);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.label());
    const Cache cache = make_cache(c, engine);
    Floats q(static_cast<std::size_t>(c.n * c.group * c.k_dim));
    for (float& x : q)
      x = normal(engine);
    const Floats by_one = attend_all(kernels, c, cache, q, 1);
    EXPECT_EQ(attend_all(kernels, c, cache, q, 16), by_one);
    EXPECT_EQ(attend_all(kernels, c, cache, q, 5), by_one);
    for (int p = 0; p < c.n; p += p < 40 || p > c.n - 3 ? 1 : 37) {
      const auto width = static_cast<std::size_t>(c.group * c.v_dim);
      const auto at = by_one.begin() + static_cast<std::ptrdiff_t>(width) * p;
      const Floats got(at, at + static_cast<std::ptrdiff_t>(width));
      ASSERT_EQ(attend_by_ranges(kernels, c, cache, q, p), got) << "position " << p;
      Floats want;
      for (int g = 0; g < c.group; ++g) {
        const Floats head = attend_reference(
            c, cache, &q[static_cast<std::size_t>((p * c.group + g) * c.k_dim)], p, g);
        want.insert(want.end(), head.begin(), head.end());
      }
      ASSERT_EQ(std::memcmp(want.data(), got.data(), 4 * width), 0) << "position " << p;
    }
  }
}

TEST_P(SameBitsAttention, WhatLiesBehindAQueryDoesNotMatter) {
  const VectorKernels& kernels = vector_kernels(GetParam());
  std::mt19937 engine(12);
  const Case c{
      .k_dim = 32, .v_dim = 32, .n = 37, .k_type = CacheType::kBF16, .v_type = CacheType::kBF16};
  const Cache cache = make_cache(c, engine);
  const Floats q(static_cast<std::size_t>(c.n * c.k_dim), 0.25F);
  const Floats full = attend_all(kernels, c, cache, q, 1);
  Cache zeroed = cache;  // positions 20 .. of their block are empty, as in decode
  const auto block = static_cast<std::size_t>(zeroed.table[1]);
  for (int p = 20; p < 32; ++p) {
    const auto slot = static_cast<std::size_t>(p % 16);
    for (std::size_t d = 0; d < 32; ++d) {
      put(c.k_type, zeroed.k.data() + block * zeroed.k_bytes, (d / 2 * 16 + slot) * 2 + d % 2, 0);
      put(c.v_type, zeroed.v.data() + block * zeroed.v_bytes, (slot / 2 * 32 + d) * 2 + slot % 2,
          0);
    }
  }
  const Floats cut = attend_all(kernels, c, zeroed, q, 1);
  EXPECT_EQ(std::memcmp(full.data(), cut.data(), 20 * 32 * sizeof(float)), 0);
  EXPECT_NE(std::memcmp(full.data(), cut.data(), full.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsAttention, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(name(isa.param)); });

TEST(Attention, DefinitionIsCloseToDouble) {
  std::mt19937 engine(13);
  std::normal_distribution<float> normal(0, 1);
  for (const Case& c : cases()) {
    const Cache cache = make_cache(c, engine);
    Floats q(static_cast<std::size_t>(c.k_dim));
    for (float& x : q)
      x = normal(engine);
    // bf16 rounds queries and weights to 8 bits, so values near 1 to about 2^-9 each; queries of
    // quantized keys keep 16.
    const bool has_bf16 = c.k_type == CacheType::kBF16 || c.v_type == CacheType::kBF16;
    const double bound = has_bf16 ? 2e-2 : is_tiled(c.k_type) ? 1e-4 : 1e-5;
    for (const int position : {0, 1, 15, 16, c.n / 2, c.n - 1}) {
      const Floats got = attend_reference(c, cache, q.data(), position, 0);
      const Floats want = attend_in_double(c, cache, q.data(), position, 0);
      for (std::size_t d = 0; d < want.size(); ++d) {
        EXPECT_NEAR(got[d], want[d], bound) << c.label() << " at " << position;
      }
    }
  }
}

}  // namespace
}  // namespace wick::test
