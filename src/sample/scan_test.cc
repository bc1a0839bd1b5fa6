#include "sample/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "sample/elementary.h"
#include "sample/oracle_test.h"
#include "sample/random.h"

namespace wick {
namespace {

using test::random_logits;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Random, IsPhilox4x32WithTenRounds) {
  // Known answer of the authors' Random123 library for a zero counter and key.
  EXPECT_EQ(uniform(0, 0), static_cast<double>(0xe169c58d6627e8d5ULL >> 11) * 0x1p-53);
}

TEST(Random, DrawsOfNeighboringSeedsAndCountersAreUniformAndDiffer) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double x = uniform(i % 7, i);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.015);  // five standard deviations
  EXPECT_NE(uniform(1, 2), uniform(2, 1));
}

TEST(Elementary, AgreesWithTheCLibrary) {
  for (double x = 1e-12; x < 1e12; x *= 1.37)
    EXPECT_NEAR(log_of(x), std::log(x), 1e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
  EXPECT_EQ(log_of(1), 0);
  for (double x = 0; x > -690; x -= 0.73)
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1, 1e-14) << x;
  for (double x = 0; x < 690; x += 0.73)
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1, 1e-14) << x;
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-std::numeric_limits<double>::infinity()), 0);
}

// Logits with ties, infinities and NaN, and which of them count.
struct Case {
  std::vector<float> logits = {};
  std::vector<std::uint64_t> allowed = {};  // empty = all
  std::vector<TokenId> sorted = {};         // what counts, most likely first
};

std::vector<Case> cases() {
  std::vector<Case> all;
  std::mt19937 rng(2);
  for (const int n : {1, 31, 511, 512, 513, 1000, 5000, 40000}) {
    for (const int kind : {0, 1, 2, 3}) {
      Case one{.logits = random_logits(n, static_cast<unsigned>(n))};
      for (float& x : one.logits) {
        if (kind > 0) x = std::round(x * 4) / 4;  // many ties
        if (kind > 1 && rng() % 20 == 0) x = rng() % 2 == 0 ? kNan : -kInf;
      }
      if (kind == 2)
        std::sort(one.logits.begin(), one.logits.end());  // the worst for a running top
      if (kind == 3) {
        one.allowed.assign((one.logits.size() + 63) / 64, ~std::uint64_t{0});
        for (std::size_t i = 0; i < one.allowed.size(); i += 3)
          one.allowed[i] = std::uint64_t{rng()} << 32U | rng();
        for (std::size_t i = 16; i < one.allowed.size() / 2; ++i)
          one.allowed[i] = 0;
      }
      for (std::size_t i = 0; i < one.logits.size(); ++i) {
        const bool is_in = one.allowed.empty() || (one.allowed[i / 64] >> (i % 64) & 1) != 0;
        if (is_in && one.logits[i] > -kInf) one.sorted.push_back(static_cast<TokenId>(i));
      }
      std::stable_sort(one.sorted.begin(), one.sorted.end(), [&](TokenId a, TokenId b) {
        return one.logits[static_cast<std::size_t>(a)] > one.logits[static_cast<std::size_t>(b)];
      });
      all.push_back(std::move(one));
    }
  }
  return all;
}

TEST(Scan, SelectTopKEqualsASortOfEverything) {
  for (const Case& one : cases()) {
    for (const std::size_t k : {1U, 2U, 40U, 999U}) {
      std::vector<Candidate> out(k);
      std::vector<float> maxima(2 * count_chunks(one.logits.size()));
      const auto found = select_top_k({one.logits, one.allowed}, k, kLowest, maxima, out);
      ASSERT_EQ(found, std::min(one.sorted.size(), k));
      for (std::size_t i = 0; i < found; ++i)
        ASSERT_EQ(out[i].id, one.sorted[i]) << one.logits.size() << " " << k;
    }
  }
}

TEST(Scan, TheLargestIsTheFirstOfASort) {
  for (const Case& one : cases()) {
    const Vocabulary v{one.logits, one.allowed};
    ASSERT_EQ(find_largest(v), one.sorted.empty() ? -1 : one.sorted[0]);
    const float wanted =
        one.sorted.empty() ? -kInf : one.logits[static_cast<std::size_t>(one.sorted[0])];
    ASSERT_EQ(largest_logit(v), wanted);
  }
}

TEST(Scan, SelectFromKeepsWhatReachesTheBoundInOrderOfIds) {
  for (const Case& one : cases()) {
    std::vector<TokenId> wanted;
    for (const TokenId id : one.sorted) {
      if (one.logits[static_cast<std::size_t>(id)] >= 1.25F) wanted.push_back(id);
    }
    std::sort(wanted.begin(), wanted.end());
    std::vector<Candidate> out(one.logits.size());
    out.resize(select_from({one.logits, one.allowed}, 1.25F, out));
    std::vector<TokenId> seen;
    for (const Candidate& item : out)
      seen.push_back(item.id);
    ASSERT_EQ(seen, wanted);
  }
}

// Eight sums by id modulo 8, those of a chunk on their own: the order that scan.h promises.
double sum_in_order(const std::vector<float>& logits, const auto& term) {
  double sum = 0;
  for (std::size_t at = 0; at < logits.size(); at += kScanChunk) {
    double lanes[8] = {};
    for (std::size_t i = 0; i < kScanChunk; ++i)
      lanes[i % 8] += at + i < logits.size() ? term(static_cast<double>(logits[at + i])) : 0;
    sum += std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
  }
  return sum;
}

TEST(SameBitsScan, SumsHaveOneOrderWhateverTheProcessor) {
  for (const int n : {1, 512, 3000}) {
    const auto logits = random_logits(n, static_cast<unsigned>(n));
    const float top = *std::max_element(logits.begin(), logits.end());
    const double sum =
        sum_in_order(logits, [&](double x) { return exp_of(x - static_cast<double>(top)); });
    EXPECT_EQ(log_sum_exp(logits), static_cast<double>(top) + log_of(sum));
    const Moments m = measure_moments({.logits = logits}, -1, top);
    const auto counts = [](double x) { return x >= -1; };
    const auto below = [&](double x) { return counts(x) ? static_cast<double>(top) - x : 0; };
    EXPECT_EQ(m.n, sum_in_order(logits, [&](double x) { return counts(x) ? 1 : 0; }));
    EXPECT_EQ(m.sum, sum_in_order(logits, below));
    EXPECT_EQ(m.squares, sum_in_order(logits, [&](double x) { return below(x) * below(x); }));
  }
}

// In a process of its own, for the choice is made once.
TEST(Scan, RunsOnTheInstructionSetThatWickIsaNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto runs_on = [](const char* wanted, Isa isa) {
    ::setenv("WICK_ISA", wanted, 1);
    std::_Exit(scan_isa() == isa ? 0 : 1);
  };
  EXPECT_EXIT(runs_on("scalar", Isa::kScalar), testing::ExitedWithCode(0), "");
  if (is_supported(Isa::kAvx2)) {
    EXPECT_EXIT(runs_on("avx2", Isa::kAvx2), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(runs_on("", Isa::kAvx2), testing::ExitedWithCode(0), "");
  }
}

TEST(SameBitsScan, WeightsAreThoseOfSingleExponentials) {
  const auto logits = random_logits(103, 5);
  std::vector<Candidate> items;
  for (const float x : logits)
    items.push_back({0, x});
  std::vector<double> weights(items.size());
  weigh(items, 12, weights);
  for (std::size_t i = 0; i < items.size(); ++i)
    EXPECT_EQ(weights[i], exp_of(static_cast<double>(logits[i]) - 12));
}

}  // namespace
}  // namespace wick
