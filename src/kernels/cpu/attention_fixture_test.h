// What the tests of attention share: caches of random keys and values in blocks of any type, and
// the kernels over them in tiles or range by range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/vector.h"
#include "quant/half.h"
#include "quant/q4_0.h"
#include "quant/q8_0.h"

namespace wick::test {

using Floats = std::vector<float>;

struct Case {
  int k_dim = 0, v_dim = 0, group = 1, n = 0, window = 0;
  CacheType k_type = CacheType::kF32, v_type = CacheType::kF32;
  bool is_latent = false;  // a value is the first v_dim features of its key
  float soft_cap = 0;
  Floats sinks = {};  // of each head of the group
  bool sees_all = false;  // later positions, too

  // The positions that the query at `position` sees end here.
  int end(int position) const {
    if (!sees_all) return position + 1;
    return window > 0 ? std::min(n, position + window) : n;
  }

  std::string label() const {
    return std::string(is_latent ? "latent, " : "") + "k_dim " + std::to_string(k_dim) +
           ", v_dim " + std::to_string(v_dim) + ", group " + std::to_string(group) + ", window " +
           std::to_string(window) + ", types " + std::to_string(static_cast<int>(k_type)) +
           std::to_string(static_cast<int>(v_type));
  }
};

inline float as_stored(CacheType type, float x) {
  if (type == CacheType::kBF16) return bf16_to_f32(f32_to_bf16(x));
  if (type == CacheType::kF16) return f16_to_f32(f32_to_f16(x));
  return x;
}

inline bool is_tiled(CacheType type) {
  return type == CacheType::kQ8_0 || type == CacheType::kQ4_0;
}

// What is stored of a key or value: x = scale * quant; without tiles the scale is 1.
struct Stored {
  Floats quants, scales;  // [n][dim], both

  float value(std::size_t at) const { return scales[at] * quants[at]; }
};

// One head of a cache, as plain rows and in blocks whose order in memory is shuffled.
struct Cache {
  Stored keys, values;
  std::vector<std::byte> k, v;
  std::vector<std::int32_t> table;
  std::size_t k_bytes = 0, v_bytes = 0;
};

inline std::size_t block_bytes(CacheType type, int dim) {
  const std::size_t bytes[] = {64, 32, 32, 17, 9};  // a feature in 16 positions; scales included
  return static_cast<std::size_t>(dim) * bytes[static_cast<std::size_t>(type)];
}

inline void put(CacheType type, std::byte* at, std::size_t index, float x) {
  if (type == CacheType::kF32) {
    std::memcpy(at + 4 * index, &x, 4);
    return;
  }
  const std::uint16_t half = type == CacheType::kBF16 ? f32_to_bf16(x) : f32_to_f16(x);
  std::memcpy(at + 2 * index, &half, 2);
}

inline void put_floats(CacheType type, bool is_key, const Floats& x, std::byte* block,
                       std::size_t slot, Stored& out) {
  for (std::size_t d = 0; d < x.size(); ++d) {
    out.quants.push_back(as_stored(type, x[d]));
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

inline void put_tiles(CacheType type, bool is_key, const Floats& x, std::byte* block,
                      std::size_t slot, Stored& out) {
  for (std::size_t first = 0; first < x.size(); first += 32) {
    std::byte* const tile = block + block_bytes(type, static_cast<int>(first));
    std::uint16_t scale = 0;
    int quants[32];
    if (type == CacheType::kQ8_0) {
      BlockQ8_0 coded_block;
      Q8_0::encode(&x[first], coded_block);
      scale = coded_block.d_f16;
      for (std::size_t i = 0; i < 32; ++i) {
        quants[i] = coded_block.qs[i];
        const std::size_t at = is_key ? (i / 2 * 16 + slot) * 2 + i % 2 : slot * 32 + i;
        tile[32 + at] = static_cast<std::byte>(quants[i]);
      }
    } else {
      BlockQ4_0 coded_block;
      Q4_0::encode(&x[first], coded_block);
      scale = coded_block.d_f16;
      for (std::size_t i = 0; i < 32; ++i) {
        const int quant = i < 16 ? coded_block.qs[i] & 15 : coded_block.qs[i - 16] >> 4;
        quants[i] = quant - 8;
        std::byte& to = tile[32 + (is_key ? i / 2 * 16 + slot : slot / 2 * 32 + i)];
        to |= static_cast<std::byte>((is_key ? i : slot) % 2 == 0 ? quant : quant << 4);
      }
    }
    std::memcpy(tile + 2 * slot, &scale, 2);
    for (const int quant : quants) {
      out.quants.push_back(static_cast<float>(quant));
      out.scales.push_back(f16_to_f32(scale));
    }
  }
}

inline Cache make_cache(const Case& c, std::mt19937& engine) {
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
    if (c.is_latent) {
      for (Floats Stored::*part : {&Stored::quants, &Stored::scales}) {
        const auto end = (cache.keys.*part).end(), begin = end - c.k_dim;
        (cache.values.*part).insert((cache.values.*part).end(), begin, begin + c.v_dim);
      }
      continue;
    }
    (is_tiled(c.v_type) ? put_tiles : put_floats)(
        c.v_type, false, value, cache.v.data() + block * cache.v_bytes, slot, cache.values);
  }
  return cache;
}

inline AttentionArgs arguments(const Case& c, const Cache& cache) {
  return {.k = cache.k.data(),
          .v = c.is_latent ? nullptr : cache.v.data(),
          .k_stride = cache.k_bytes,
          .v_stride = cache.v_bytes,
          .k_type = c.k_type,
          .v_type = c.v_type,
          .table = cache.table.data(),
          .k_dim = c.k_dim,
          .v_dim = c.v_dim,
          .group = c.group,
          .window = c.window,
          .end = c.sees_all ? c.n : 0,
          .scale = 1 / std::sqrt(static_cast<float>(c.k_dim)),
          .soft_cap = c.soft_cap,
          .sinks = c.sinks.empty() ? nullptr : c.sinks.data(),
          .q_stride = static_cast<std::ptrdiff_t>(c.group) * c.k_dim,
          .y_stride = static_cast<std::ptrdiff_t>(c.group) * c.v_dim};
}

// All queries [n][group][v_dim], in tiles of at most `tile` positions inside blocks of 16.
inline Floats attend_all(const VectorKernels& kernels, const Case& c, const Cache& cache,
                         const Floats& q, int tile) {
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
inline Floats attend_by_ranges(const VectorKernels& kernels, const Case& c, const Cache& cache,
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

inline std::vector<Case> cases() {
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
      {.k_dim = 96, .v_dim = 64, .group = 7, .n = 300, .k_type = bf16, .is_latent = true},
      {.k_dim = 20, .v_dim = 14, .group = 1, .n = 275, .k_type = f32, .is_latent = true},
      {.k_dim = 42, .v_dim = 34, .group = 3, .n = 70, .k_type = f16, .is_latent = true},
      {.k_dim = 96, .v_dim = 64, .group = 5, .n = 290, .k_type = q8, .is_latent = true},
      {.k_dim = 64, .v_dim = 32, .group = 2, .n = 50, .k_type = q4, .is_latent = true},
      {.k_dim = 16, .v_dim = 16, .group = 2, .n = 300, .k_type = f32, .soft_cap = 0.7F},
      {.k_dim = 32, .v_dim = 32, .group = 3, .n = 70, .window = 20, .k_type = q8, .soft_cap = 3},
      {.k_dim = 32, .v_dim = 32, .group = 1, .n = 275, .sees_all = true},
      {.k_dim = 20, .v_dim = 14, .group = 3, .n = 53, .window = 9, .sees_all = true},
      {.k_dim = 32, .v_dim = 32, .group = 2, .n = 600, .window = 261, .sees_all = true},
      {.k_dim = 16, .v_dim = 16, .n = 300, .k_type = bf16, .v_type = bf16, .sees_all = true},
      {.k_dim = 16, .v_dim = 16, .group = 2, .n = 300, .k_type = bf16, .sinks = {0.5F, 9}},
      {.k_dim = 32, .v_dim = 32, .group = 1, .n = 70, .window = 20, .k_type = q8, .sinks = {-2}},
  };
}

inline std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (is_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

}  // namespace wick::test
