// Attention over a long past, one query position or a tile of sixteen: positions and bytes of cache
// per second, and multiply-adds.
//
//   bench_attention [--isa NAME] [--depth 8192] [--dims 64,128] [--group 3] [--heads 8] [--tokens
//   1] [--latent 0]
//
// --latent N: a value is the first N features of its key (MLA), and a position is its key alone.
// `heads` heads of keys and values are visited in turn, so that the cache comes from memory where
// it is larger than the processor's caches. One thread; processor time; the median of seven rounds.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "bench/measure.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/vector.h"

namespace {

using namespace wick;

struct Options {
  std::string isa;
  int depth = 8192, group = 3, heads = 8, tokens = 1, latent = 0;
  std::vector<int> dims = {64, 128};
};

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const char* value = argv[i + 1];
    if (key == "--isa") {
      o.isa = value;
    } else if (key == "--dims") {
      o.dims.clear();
      for (const char* at = value; *at != 0; at += *at == ',')
        o.dims.push_back(static_cast<int>(std::strtol(at, const_cast<char**>(&at), 10)));
    } else {
      int* to = key == "--depth"    ? &o.depth
                : key == "--group"  ? &o.group
                : key == "--heads"  ? &o.heads
                : key == "--tokens" ? &o.tokens
                : key == "--latent" ? &o.latent
                                    : nullptr;
      if (to == nullptr) return false;
      *to = std::atoi(value);
    }
  }
  return argc % 2 == 1 && o.tokens >= 1 && o.tokens <= 16;
}

AlignedBuffer zeros(std::size_t bytes) {
  Result<AlignedBuffer> buffer = AlignedBuffer::create(bytes);
  if (!buffer) std::exit(1);
  std::memset(buffer->data(), 0, bytes);
  return *std::move(buffer);
}

void measure(const Options& o, Isa isa, CacheType type, const char* name, int dim) {
  constexpr std::size_t kBytes[] = {64, 32, 32, 17, 9};  // of a feature in a block, by CacheType
  const std::size_t block = kBytes[static_cast<int>(type)] * static_cast<std::size_t>(dim);
  const auto blocks = static_cast<std::size_t>(o.depth / kCacheBlock);
  const auto heads = static_cast<std::size_t>(o.heads);
  const bool is_latent = o.latent > 0;
  const int v_dim = is_latent ? o.latent : dim;
  const AlignedBuffer k = zeros(heads * blocks * block);
  const AlignedBuffer v = zeros(is_latent ? 64 : heads * blocks * block);
  std::vector<std::int32_t> table(blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    table[i] = static_cast<std::int32_t>(i);
  const int rows = o.group * o.tokens;
  std::vector<float> q(static_cast<std::size_t>(rows * dim), 0.5F), y(q.size());
  const AlignedBuffer scratch = zeros(4 * attention_scratch_floats(rows, dim, dim));
  const VectorKernels& kernels = vector_kernels(isa);
  std::vector<double> rounds;
  for (int round = 0; round < 7; ++round) {
    const double start = seconds();
    for (std::size_t h = 0; h < heads; ++h) {
      kernels.attend({.k = k.data() + h * blocks * block,
                      .v = is_latent ? nullptr : v.data() + h * blocks * block,
                      .k_stride = block,
                      .v_stride = block,
                      .k_type = type,
                      .v_type = type,
                      .table = table.data(),
                      .k_dim = dim,
                      .v_dim = v_dim,
                      .group = o.group,
                      .position = o.depth - o.tokens,
                      .n_tokens = o.tokens,
                      .q = q.data(),
                      .q_stride = std::ptrdiff_t{o.group} * dim,
                      .y = y.data(),
                      .y_stride = std::ptrdiff_t{o.group} * v_dim,
                      .scratch = scratch.as<float>()});
    }
    rounds.push_back(seconds() - start);
  }
  const double time = spread(rounds).median / o.heads;
  std::printf(
      "%-5s dim %3d, group %d, %2d tokens at %d: %7.1f us a head, %6.2f GB/s of cache, %6.1f "
      "GMAC/s\n",
      name, dim, o.group, o.tokens, o.depth, time * 1e6,
      (is_latent ? 1e-9 : 2e-9) * static_cast<double>(blocks * block) / time,
      1e-9 * rows * (dim + v_dim) * o.depth / time);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (!parse(argc, argv, o)) {
    std::fprintf(
        stderr,
        "usage: bench_attention [--isa NAME] [--depth N] [--dims N,M] [--group N] [--heads "
        "N] [--tokens 1..16] [--latent N]\n");
    return 2;
  }
  const Result<Isa> isa = o.isa.empty() ? choose_isa() : choose_isa(o.isa);
  if (!isa) return 1;
  for (const int dim : o.dims) {
    measure(o, *isa, CacheType::kF32, "f32", dim);
    measure(o, *isa, CacheType::kBF16, "bf16", dim);
    measure(o, *isa, CacheType::kF16, "f16", dim);
    measure(o, *isa, CacheType::kQ8_0, "q8_0", dim);
    measure(o, *isa, CacheType::kQ4_0, "q4_0", dim);
  }
  return 0;
}
