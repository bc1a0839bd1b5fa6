// The meter of multiplies (matmul_args.h, PeakFn) against bounds that it does not make itself: what
// the processor's clock and pipes allow, the instruction written by hand, and the fastest product
// that it is a limit of. A compiler that drops its loop breaks the first two (it once said twelve
// times the truth; an emulator has no clock, there the second one finds it), a meter that waits
// breaks the last two.
//
// Nothing here needs a quiet machine: both sides of a comparison take turns, short beside a slice
// of the scheduler, and of each the best of many counts. (Not by the thread's processor time:
// virtual machines correct that by what was stolen, and sometimes by too much.)
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "kernels/cpu/matmul_data_test.h"
#include "support/instrumented.h"

namespace wick::test {
namespace {

constexpr int kTurns = 40;
constexpr std::uint64_t kRounds = 50'000;  // of twelve multiplies: 0.1 ms

// Best seconds of one call of each, in turns.
struct BestSeconds {
  double first = 1e9, second = 1e9;
};

template <class First, class Second>
BestSeconds best_seconds(const First& first, const Second& second) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](const auto& work) {
    const Clock::time_point begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  BestSeconds best;
  for (int turn = 0; turn < kTurns; ++turn) {
    best.first = std::min(best.first, seconds(first));
    best.second = std::min(best.second, seconds(second));
  }
  return best;
}

// So many cycles: additions that wait for one another, of registers, since a processor may add
// constants without a cycle (Golden Cove does).
void wait_cycles(int cycles) {
  std::uint64_t x = 1;
  const std::uint64_t y = 1;
  for (int i = 0; i < cycles / 10; ++i) {
#if defined(__x86_64__)
    __asm__ volatile(
        "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
        "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0"
        : "+r"(x)
        : "r"(y));
#else
    __asm__ volatile(
        "add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n"
        "add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1\n add %0, %0, %1"
        : "+r"(x)
        : "r"(y));
#endif
  }
}

// Twelve multiplies a round of the instruction that the meter of `isa` is about.
void multiply_by_hand(Isa isa, std::uint64_t rounds) {
#if defined(__x86_64__)
  for (; isa == Isa::kAvx2 && rounds > 0; --rounds) {
    __asm__ volatile(
        ".irp reg, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n"
        "vpmaddubsw %%ymm1, %%ymm0, %%ymm\\reg\n"
        ".endr" ::
            : "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
              "xmm12", "xmm13");
  }
  for (; isa == Isa::kAvx512 && rounds > 0; --rounds) {
    __asm__ volatile(
        ".irp reg, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n"
        "vpdpbusd %%zmm1, %%zmm0, %%zmm\\reg\n"
        ".endr" ::
            : "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
              "xmm12", "xmm13");
  }
  __asm__ volatile("vzeroupper");
#else
  for (; isa == Isa::kNeon && rounds > 0; --rounds) {
    __asm__ volatile(
        ".arch armv8.2-a+dotprod\n"
        ".irp reg, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n"
        "sdot v\\reg\\().4s, v0.16b, v1.16b\n"
        ".endr" ::
            : "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13");
  }
#endif
}

int register_bytes(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return 64;
    case Isa::kAvx2:
      return 32;
    default:
      return 16;
  }
}

std::vector<Isa> isas_with_a_meter() {
  std::vector<Isa> isas;
  for (const Isa isa : kAllIsas) {
    if (is_supported(isa) && matmul_kernels(isa).peak != nullptr) isas.push_back(isa);
  }
  return isas;
}

class MultiplyPeak : public testing::TestWithParam<Isa> {};

// No processor has more than four pipes for these multiplies (128-bit ones; two of 256 or 512), and
// a dropped loop makes twelve a cycle or more. The clock may rise between the two: 1.5 times.
TEST_P(MultiplyPeak, IsNoMoreThanFourPipesAllow) {
  constexpr int kCycles = 300'000;
  const MatmulKernels& kernels = matmul_kernels(GetParam());
  std::uint64_t products = 0;
  const auto [meter, cycles] =
      best_seconds([&] { products = kernels.peak(kRounds); }, [] { wait_cycles(kCycles); });
  const double multiplies = static_cast<double>(products) / register_bytes(GetParam()) / meter;
  EXPECT_LE(multiplies / (kCycles / cycles), 4 * 1.5)
      << "multiplies a cycle at " << kCycles / cycles * 1e-9 << " GHz";
}

TEST_P(MultiplyPeak, IsTheRateOfItsInstruction) {
  const MatmulKernels& kernels = matmul_kernels(GetParam());
  std::uint64_t products = 0;
  const auto [meter, by_hand] = best_seconds([&] { products = kernels.peak(kRounds); },
                                             [] { multiply_by_hand(GetParam(), kRounds); });
  EXPECT_EQ(products, kRounds * 12 * static_cast<std::uint64_t>(register_bytes(GetParam())));
  EXPECT_GE(meter, by_hand / 1.5) << "seconds";
  // With sanitizers the meter's registers lie in memory: it waits, and nobody asks it.
  if (!kIsInstrumented) {
    EXPECT_LE(meter, by_hand * 1.5) << "seconds";
  }
}

// 64 rows and 60 tokens of Q4_0 from the cache: its panels multiply by the meter's instruction.
TEST_P(MultiplyPeak, IsNoLessThanAProductReaches) {
  constexpr int kRows = 64, kTokens = 60, kWidth = 512;
  const MatmulKernels& kernels = matmul_kernels(GetParam());
  const std::vector<std::byte> w = make_weights(DType::kQ4_0, kRows, kWidth, Fill::kRandom, 17);
  std::size_t stride = 0;
  const AlignedBytes x = make_activations(DType::kQ4_0, kWidth, kTokens, Fill::kRandom, stride);
  std::vector<float> y(std::size_t{kRows} * kTokens);
  const MatmulArgs args = {.w = w.data(),
                           .row_bytes = *row_bytes(DType::kQ4_0, kWidth),
                           .width = kWidth,
                           .row_begin = 0,
                           .row_end = kRows,
                           .x = x.data(),
                           .x_stride = stride,
                           .n_tokens = kTokens,
                           .y = y.data(),
                           .y_stride = kRows};
  std::uint64_t products = 0;
  const auto [meter, product] =
      best_seconds([&] { products = kernels.peak(kRounds); },
                   [&] { kernels.matmul[static_cast<int>(DType::kQ4_0)](args); });
  EXPECT_LE(double{kRows} * kTokens * kWidth / product, 1.1 * static_cast<double>(products) / meter)
      << "products a second; the meter says " << static_cast<double>(products) / meter;
}

// Scalar code has no such instruction, so the suite may be empty.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MultiplyPeak);
INSTANTIATE_TEST_SUITE_P(Isas, MultiplyPeak, testing::ValuesIn(isas_with_a_meter()),
                         [](const auto& p) { return std::string(name(p.param)); });

}  // namespace
}  // namespace wick::test
