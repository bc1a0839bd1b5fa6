// Attention: every ISA, tile and split of the work against a scalar emulation written straight from
// docs/numerics.md ("Attention") bit for bit, and that emulation against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/vector.h"
#include "quant/half.h"
#include "quant/q4_0.h"
#include "quant/q8_0.h"

namespace wick {
namespace {

using Floats = std::vector<float>;

struct Case {
  int k_dim = 0, v_dim = 0, group = 1, n = 0, window = 0;
  CacheType k_type = CacheType::kF32, v_type = CacheType::kF32;

  std::string label() const {
    return "k_dim " + std::to_string(k_dim) + ", v_dim " + std::to_string(v_dim) + ", group " +
           std::to_string(group) + ", window " + std::to_string(window) + ", types " +
           std::to_string(static_cast<int>(k_type)) + std::to_string(static_cast<int>(v_type));
  }
};

float as_stored(CacheType type, float x) {
  if (type == CacheType::kBF16) return bf16_to_f32(f32_to_bf16(x));
  if (type == CacheType::kF16) return f16_to_f32(f32_to_f16(x));
  return x;
}

bool is_tiled(CacheType type) {
  return type == CacheType::kQ8_0 || type == CacheType::kQ4_0;
}

// What is stored of a key or value: x = scale * code; without tiles the scale is 1.
struct Stored {
  Floats codes, scales;  // [n][dim], both

  float value(std::size_t at) const { return scales[at] * codes[at]; }
};

// One head of a cache, as plain rows and in blocks whose order in memory is shuffled.
struct Cache {
  Stored keys, values;
  std::vector<std::byte> k, v;
  std::vector<std::int32_t> table;
  std::size_t k_bytes = 0, v_bytes = 0;
};

std::size_t block_bytes(CacheType type, int dim) {
  const std::size_t bytes[] = {64, 32, 32, 17, 9};  // a feature in 16 positions; scales included
  return static_cast<std::size_t>(dim) * bytes[static_cast<std::size_t>(type)];
}

void put(CacheType type, std::byte* at, std::size_t index, float x) {
  if (type == CacheType::kF32) {
    std::memcpy(at + 4 * index, &x, 4);
    return;
  }
  const std::uint16_t half = type == CacheType::kBF16 ? f32_to_bf16(x) : f32_to_f16(x);
  std::memcpy(at + 2 * index, &half, 2);
}

void put_floats(CacheType type, bool is_key, const Floats& x, std::byte* block, std::size_t slot,
                Stored& out) {
  for (std::size_t d = 0; d < x.size(); ++d) {
    out.codes.push_back(as_stored(type, x[d]));
    out.scales.push_back(1);
    if (is_key) {
      put(type, block, type == CacheType::kF32 ? d * 16 + slot : (d / 2 * 16 + slot) * 2 + d % 2,
          x[d]);
    } else {
      put(type, block,
          type == CacheType::kF32 ? slot * x.size() + d : (slot / 2 * x.size() + d) * 2 + slot % 2,
          x[d]);
    }
  }
}

void put_tiles(CacheType type, bool is_key, const Floats& x, std::byte* block, std::size_t slot,
               Stored& out) {
  for (std::size_t first = 0; first < x.size(); first += 32) {
    std::byte* const tile = block + block_bytes(type, static_cast<int>(first));
    std::uint16_t scale = 0;
    int codes[32];
    if (type == CacheType::kQ8_0) {
      BlockQ8_0 coded;
      Q8_0::encode(&x[first], coded);
      scale = coded.d_f16;
      for (std::size_t i = 0; i < 32; ++i) {
        codes[i] = coded.qs[i];
        const std::size_t at = is_key ? (i / 2 * 16 + slot) * 2 + i % 2 : slot * 32 + i;
        tile[32 + at] = static_cast<std::byte>(codes[i]);
      }
    } else {
      BlockQ4_0 coded;
      Q4_0::encode(&x[first], coded);
      scale = coded.d_f16;
      for (std::size_t i = 0; i < 32; ++i) {
        const int code = i < 16 ? coded.qs[i] & 15 : coded.qs[i - 16] >> 4;
        codes[i] = code - 8;
        std::byte& to = tile[32 + (is_key ? i / 2 * 16 + slot : slot / 2 * 32 + i)];
        to |= static_cast<std::byte>((is_key ? i : slot) % 2 == 0 ? code : code << 4);
      }
    }
    std::memcpy(tile + 2 * slot, &scale, 2);
    for (const int code : codes) {
      out.codes.push_back(static_cast<float>(code));
      out.scales.push_back(f16_to_f32(scale));
    }
  }
}

Cache make_cache(const Case& c, std::mt19937& engine) {
  Cache cache;
  std::normal_distribution<float> normal(0, 1);
  const auto blocks = static_cast<std::size_t>((c.n + 15) / 16);
  cache.table.resize(blocks);
  std::iota(cache.table.begin(), cache.table.end(), 0);
  std::shuffle(cache.table.begin(), cache.table.end(), engine);
  cache.k_bytes = block_bytes(c.k_type, c.k_dim);
  cache.v_bytes = block_bytes(c.v_type, c.v_dim);
  cache.k.resize(blocks * cache.k_bytes);
  cache.v.resize(blocks * cache.v_bytes);
  for (int p = 0; p < c.n; ++p) {
    const auto block = static_cast<std::size_t>(cache.table[static_cast<std::size_t>(p / 16)]);
    const auto slot = static_cast<std::size_t>(p % 16);
    Floats key(static_cast<std::size_t>(c.k_dim)), value(static_cast<std::size_t>(c.v_dim));
    for (float& x : key)
      x = normal(engine) * (engine() % 64 == 0 ? 8.0F : 1.0F);
    for (float& x : value)
      x = normal(engine);
    (is_tiled(c.k_type) ? put_tiles : put_floats)(
        c.k_type, true, key, cache.k.data() + block * cache.k_bytes, slot, cache.keys);
    (is_tiled(c.v_type) ? put_tiles : put_floats)(
        c.v_type, false, value, cache.v.data() + block * cache.v_bytes, slot, cache.values);
  }
  return cache;
}

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

// Quantised keys: the query in units of its largest magnitude over 32,767, tile by tile.
float coded_score_reference(const Case& c, const Cache& cache, const float* q, int p) {
  float sum = 0;
  for (int tile = 0; tile < c.k_dim; tile += 32) {
    float top = 0;
    for (int i = 0; i < 32; ++i)
      top = std::max(top, std::abs(q[tile + i]));
    const float inverse = top < 0x1p-100F ? 0 : 32767 / top;
    const float unit = top < 0x1p-100F ? 0 : top / 32767;
    const auto at = static_cast<std::size_t>(p * c.k_dim + tile);
    std::int64_t count = 0;
    for (int i = 0; i < 32; ++i)
      count += static_cast<std::int64_t>(std::nearbyint(q[tile + i] * inverse)) *
               static_cast<std::int64_t>(cache.keys.codes[at + static_cast<std::size_t>(i)]);
    sum = std::fma(static_cast<float>(count), cache.keys.scales[at] * unit, sum);
  }
  return sum;
}

float score_reference(const Case& c, const Cache& cache, const float* q, int p) {
  if (is_tiled(c.k_type)) return coded_score_reference(c, cache, q, p);
  float sum = 0;
  for (int i = 0; i < c.k_dim; ++i) {
    const int d = term(c.k_type, i);
    const auto at = static_cast<std::size_t>(p * c.k_dim + d);
    const float query = c.k_type == CacheType::kBF16 ? as_stored(c.k_type, q[d]) : q[d];
    sum = std::fma(cache.keys.codes[at], query, sum);
  }
  return sum;
}

struct State {
  float m = 0, s = 0;
  Floats o;
};

State range_reference(const Case& c, const Cache& cache, const float* q, int position, int range) {
  const int first = std::max(256 * range, c.window > 0 ? position - c.window + 1 : 0);
  const int last = std::min(256 * range + 255, position);
  const float factor = (1 / std::sqrt(static_cast<float>(c.k_dim))) * 1.44269502F;
  Floats x, lanes(16, 0.0F), weights(256, 0.0F);
  for (int p = first; p <= last; ++p) {
    x.push_back(score_reference(c, cache, q, p) * factor);
  }
  State state{.m = *std::max_element(x.begin(), x.end()), .s = 0, .o = {}};
  for (int p = first; p <= last; ++p) {
    const float weight = exp2_reference(x[static_cast<std::size_t>(p - first)] - state.m);
    lanes[static_cast<std::size_t>(p % 16)] += weight;
    weights[static_cast<std::size_t>(p % 256)] =
        c.v_type == CacheType::kBF16 ? as_stored(c.v_type, weight) : weight;
  }
  state.s = tree(lanes);
  for (int d = 0; d < c.v_dim; ++d) {
    float sum = 0;
    for (int i = 0; i < 256; ++i) {
      const int p = 256 * range + term(c.v_type, i);
      if (p < first || p > last) continue;
      const auto at = static_cast<std::size_t>(p * c.v_dim + d);
      const float weight = weights[static_cast<std::size_t>(p % 256)];
      sum = std::fma(cache.values.codes[at], weight * cache.values.scales[at], sum);
    }
    state.o.push_back(sum + 0.0F);
  }
  return state;
}

Floats attend_reference(const Case& c, const Cache& cache, const float* q, int position) {
  const int first = std::max(0, c.window > 0 ? position - c.window + 1 : 0);
  State state = range_reference(c, cache, q, position, first / 256);
  for (int range = first / 256 + 1; range <= position / 256; ++range) {
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
  for (float& o : state.o)
    o *= 1 / state.s;
  return state.o;
}

Floats attend_in_double(const Case& c, const Cache& cache, const float* q, int position) {
  const int first = std::max(0, c.window > 0 ? position - c.window + 1 : 0);
  std::vector<double> weights, out(static_cast<std::size_t>(c.v_dim), 0.0);
  for (int p = first; p <= position; ++p) {
    double sum = 0;
    for (int d = 0; d < c.k_dim; ++d) {
      sum +=
          static_cast<double>(q[d]) * cache.keys.value(static_cast<std::size_t>(p * c.k_dim + d));
    }
    weights.push_back(sum / std::sqrt(static_cast<double>(c.k_dim)));
  }
  const double top = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& weight : weights)
    total += weight = std::exp(weight - top);
  for (int p = first; p <= position; ++p) {
    for (int d = 0; d < c.v_dim; ++d) {
      out[static_cast<std::size_t>(d)] +=
          weights[static_cast<std::size_t>(p - first)] / total *
          cache.values.value(static_cast<std::size_t>(p * c.v_dim + d));
    }
  }
  return {out.begin(), out.end()};
}

AttentionArgs arguments(const Case& c, const Cache& cache) {
  return {.k = cache.k.data(),
          .v = cache.v.data(),
          .k_stride = cache.k_bytes,
          .v_stride = cache.v_bytes,
          .k_type = c.k_type,
          .v_type = c.v_type,
          .table = cache.table.data(),
          .k_dim = c.k_dim,
          .v_dim = c.v_dim,
          .group = c.group,
          .window = c.window,
          .scale = 1 / std::sqrt(static_cast<float>(c.k_dim)),
          .q_stride = static_cast<std::ptrdiff_t>(c.group) * c.k_dim,
          .y_stride = static_cast<std::ptrdiff_t>(c.group) * c.v_dim};
}

// All queries [n][group][v_dim], in tiles of at most `tile` positions inside blocks of 16.
Floats attend_all(const VectorKernels& kernels, const Case& c, const Cache& cache, const Floats& q,
                  int tile) {
  Floats y(static_cast<std::size_t>(c.n * c.group * c.v_dim));
  Floats scratch(attention_scratch_floats(16 * c.group, c.k_dim, c.v_dim));
  AttentionArgs args = arguments(c, cache);
  args.scratch = scratch.data();
  for (int p = 0; p < c.n; p += args.n_tokens) {
    args.position = p;
    args.n_tokens = std::min({tile, 16 - p % 16, c.n - p});
    args.q = q.data() + p * args.q_stride;
    args.y = y.data() + p * args.y_stride;
    kernels.attend(args);
  }
  return y;
}

// One query, each range by itself and in descending order, then merged.
Floats attend_by_ranges(const VectorKernels& kernels, const Case& c, const Cache& cache,
                        const Floats& q, int position) {
  Floats y(static_cast<std::size_t>(c.group * c.v_dim));
  Floats scratch(attention_scratch_floats(c.group, c.k_dim, c.v_dim));
  AttentionArgs args = arguments(c, cache);
  args.scratch = scratch.data();
  args.position = position;
  args.q = q.data() + position * args.q_stride;
  args.y = y.data();
  const RangeSpan span = attention_ranges(args);
  const std::size_t one = static_cast<std::size_t>(c.group) * attention_state_floats(c.v_dim);
  const int n_ranges = span.last - span.first + 1;
  Floats states(one * static_cast<std::size_t>(n_ranges));
  for (int i = n_ranges - 1; i >= 0; --i) {
    kernels.attend_range(args, span.first + i, states.data() + one * static_cast<std::size_t>(i));
  }
  kernels.merge_ranges(args, n_ranges, states.data());
  return y;
}

std::vector<Case> cases() {
  const CacheType f32 = CacheType::kF32, bf16 = CacheType::kBF16, f16 = CacheType::kF16;
  const CacheType q8 = CacheType::kQ8_0, q4 = CacheType::kQ4_0;
  return {
      {.k_dim = 64, .v_dim = 64, .group = 3, .n = 275, .k_type = bf16, .v_type = bf16},
      {.k_dim = 64, .v_dim = 64, .group = 7, .n = 60, .k_type = f32, .v_type = f32},
      {.k_dim = 128, .v_dim = 128, .group = 1, .n = 40, .k_type = f16, .v_type = f16},
      {.k_dim = 24, .v_dim = 24, .group = 8, .n = 100, .k_type = bf16, .v_type = f32},
      {.k_dim = 40, .v_dim = 40, .group = 2, .n = 70, .k_type = f32, .v_type = f16},
      {.k_dim = 80, .v_dim = 34, .group = 5, .n = 50, .k_type = f16, .v_type = bf16},
      {.k_dim = 8, .v_dim = 8, .group = 4, .n = 40, .k_type = bf16, .v_type = bf16},
      {.k_dim = 2, .v_dim = 6, .group = 1, .n = 33, .k_type = f32, .v_type = f32},
      {.k_dim = 256, .v_dim = 256, .group = 1, .n = 20, .k_type = bf16, .v_type = bf16},
      {.k_dim = 32,
       .v_dim = 32,
       .group = 2,
       .n = 600,
       .window = 20,
       .k_type = bf16,
       .v_type = bf16},
      {.k_dim = 64, .v_dim = 64, .group = 3, .n = 275, .k_type = q8, .v_type = q8},
      {.k_dim = 128, .v_dim = 96, .group = 5, .n = 70, .k_type = q8, .v_type = q4},
      {.k_dim = 32, .v_dim = 32, .group = 1, .n = 290, .window = 30, .k_type = q4, .v_type = q8},
      {.k_dim = 64, .v_dim = 128, .group = 2, .n = 50, .k_type = q4, .v_type = bf16},
      {.k_dim = 16, .v_dim = 16, .group = 1, .n = 600, .window = 261, .k_type = f32, .v_type = f32},
  };
}

using SameBitsAttention = testing::TestWithParam<Isa>;

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

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
            c, cache, &q[static_cast<std::size_t>((p * c.group + g) * c.k_dim)], p);
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
    // quantised keys keep 16.
    const bool has_bf16 = c.k_type == CacheType::kBF16 || c.v_type == CacheType::kBF16;
    const double bound = has_bf16 ? 2e-2 : is_tiled(c.k_type) ? 1e-4 : 1e-5;
    for (const int position : {0, 1, 15, 16, c.n / 2, c.n - 1}) {
      const Floats got = attend_reference(c, cache, q.data(), position);
      const Floats want = attend_in_double(c, cache, q.data(), position);
      for (std::size_t d = 0; d < want.size(); ++d) {
        EXPECT_NEAR(got[d], want[d], bound) << c.label() << " at " << position;
      }
    }
  }
}

}  // namespace
}  // namespace wick
