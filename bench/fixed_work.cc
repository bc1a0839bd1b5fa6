// The same work on every machine, for instructions to be counted (tools/instructions): each product
// of the kernel table with 1, 4 and 32 tokens, the quantization of activations, attention over each
// kind of cache. Alone it prints the cases' names.
//
//   WICK_ISA=avx2 valgrind --tool=callgrind --collect-atstart=no build/release/bench_fixed_work
//
// Weights and activations are all zero: the kernels' paths do not depend on values.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/strings.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/vector.h"
#include "quant/dtype.h"

namespace {

using namespace wick;

constexpr int kWidth = 1024, kRows = 32;

AlignedBuffer zeros(std::size_t bytes) {
  Result<AlignedBuffer> buffer = AlignedBuffer::create(bytes);
  if (!buffer) std::exit(1);
  std::memset(buffer->data(), 0, bytes);
  return *std::move(buffer);
}

// A case once to warm up (what is decided at the first call), then once counted, in a dump that
// bears its name.
void count(const std::string& name, const std::function<void()>& work) {
  work();
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  work();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  std::puts(name.c_str());
}

void count_products(const MatmulKernels& kernels, DType type) {
  const std::size_t row = *row_bytes(type, kWidth);
  const AlignedBuffer w = zeros(row * kRows);
  const std::size_t stride =
      needs_quantized(type) ? activation_layout(kWidth).bytes : kWidth * sizeof(float);
  const AlignedBuffer x = zeros(stride * 32);
  std::vector<float> y(std::size_t{kRows} * 32);
  for (const int tokens : {1, 4, 32}) {
    const MatmulArgs args = {.w = w.data(),
                             .row_bytes = row,
                             .width = kWidth,
                             .row_begin = 0,
                             .row_end = kRows,
                             .x = x.data(),
                             .x_stride = stride,
                             .n_tokens = tokens,
                             .y = y.data(),
                             .y_stride = kRows};
    count(cat(dtype_info(type).name, " x", tokens),
          [&] { kernels.matmul[static_cast<int>(type)](args); });
  }
}

void count_attention(const VectorKernels& kernels, CacheType type, std::string_view name) {
  constexpr int kDim = 64, kDepth = 512, kGroup = 3;
  constexpr std::size_t kBytes[] = {64, 32, 32, 17, 9};  // of a feature in a block, by CacheType
  const std::size_t block = kBytes[static_cast<int>(type)] * kDim;
  const AlignedBuffer k = zeros(block * kDepth / kCacheBlock),
                      v = zeros(block * kDepth / kCacheBlock);
  std::vector<std::int32_t> table(kDepth / kCacheBlock);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<std::int32_t>(i);
  for (const int tokens : {1, 16}) {
    const int rows = kGroup * tokens;
    const std::vector<float> q(static_cast<std::size_t>(rows * kDim));
    std::vector<float> y(q.size());
    const AlignedBuffer scratch = zeros(sizeof(float) * attention_scratch_floats(rows, kDim, kDim));
    const AttentionArgs args = {.k = k.data(),
                                .v = v.data(),
                                .k_stride = block,
                                .v_stride = block,
                                .k_type = type,
                                .v_type = type,
                                .table = table.data(),
                                .k_dim = kDim,
                                .v_dim = kDim,
                                .group = kGroup,
                                .position = kDepth - tokens,
                                .n_tokens = tokens,
                                .q = q.data(),
                                .q_stride = std::ptrdiff_t{kGroup} * kDim,
                                .y = y.data(),
                                .y_stride = std::ptrdiff_t{kGroup} * kDim,
                                .scratch = scratch.as<float>()};
    count(cat("attention ", name, " x", tokens), [&] { kernels.attend(args); });
  }
}

}  // namespace

int main() {
  const Result<Isa> isa = choose_isa();
  if (!isa) {
    std::fprintf(stderr, "%s\n", to_string(isa.error()).c_str());
    return 1;
  }
  const MatmulKernels& products = matmul_kernels(*isa);
  const std::vector<float> x(kWidth);
  const AlignedBuffer row = zeros(activation_layout(kWidth).bytes);
  count("quantize", [&] { products.quantize(x.data(), activation_layout(kWidth), row.data()); });
  for (int type = 0; type < kDTypes; ++type) {
    if (products.matmul[type] != nullptr) count_products(products, static_cast<DType>(type));
  }
  const VectorKernels& vectors = vector_kernels(*isa);
  count_attention(vectors, CacheType::kF32, "f32");
  count_attention(vectors, CacheType::kBF16, "bf16");
  count_attention(vectors, CacheType::kF16, "f16");
  count_attention(vectors, CacheType::kQ8_0, "q8_0");
  count_attention(vectors, CacheType::kQ4_0, "q4_0");
  return 0;
}
