#include "backend/cpu/routing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wick {
namespace {

struct Choice {
  std::vector<int> experts;
  std::vector<float> weights;
};

Choice route_of(const Routing& routing, std::vector<float> products,
                const std::vector<float>& bias = {}) {
  const auto n = static_cast<std::size_t>(routing.n_active);
  std::vector<float> scratch(products.size());
  Choice out{std::vector<int>(n), std::vector<float>(n)};
  route(routing, products, bias, scratch, out.experts, out.weights);
  return out;
}

TEST(Routing, ChoosesTheFirstOfEqualExperts) {
  const Routing routing{.n_experts = 6, .n_active = 3};
  EXPECT_EQ(route_of(routing, {1, 2, 2, 1, 2, 2}).experts, (std::vector{1, 2, 4}));
  EXPECT_EQ(route_of(routing, {0, 0, 0, 0, 0, 0}).experts, (std::vector{0, 1, 2}));
}

TEST(Routing, SoftmaxWeightsSumToOneOrToTheChosenShare) {
  Routing routing{.n_experts = 3, .n_active = 2};
  const float log3 = std::log(3.0F);
  const Choice shares = route_of(routing, {0, log3, log3 + log3});  // 1 : 3 : 9
  EXPECT_EQ(shares.experts, (std::vector{2, 1}));
  EXPECT_NEAR(shares.weights[0], 0.75, 1e-6);
  EXPECT_NEAR(shares.weights[1], 0.25, 1e-6);
  routing.normalizes = false;
  routing.scale = 2;
  const Choice parts = route_of(routing, {0, log3, log3 + log3});
  EXPECT_NEAR(parts.weights[0], 2 * 9.0 / 13, 1e-6);
  EXPECT_NEAR(parts.weights[1], 2 * 3.0 / 13, 1e-6);
}

TEST(Routing, ABiasChangesTheChoiceButNoWeight) {
  const Routing routing{
      .score = Routing::Score::kSigmoid, .n_experts = 3, .n_active = 1, .normalizes = false};
  EXPECT_EQ(route_of(routing, {0, 2, 1}).experts, (std::vector{1}));
  const Choice biased = route_of(routing, {0, 2, 1}, {1, 0, 0});
  EXPECT_EQ(biased.experts, (std::vector{0}));
  EXPECT_NEAR(biased.weights[0], 0.5, 1e-6);
}

TEST(Routing, LimitsTheChoiceToTheBestGroups) {
  Routing routing{.score = Routing::Score::kSigmoid,
                  .n_experts = 6,
                  .n_active = 2,
                  .n_groups = 3,
                  .n_active_groups = 1};
  // The best single expert is in the first group, the best pair in the last.
  const std::vector<float> products = {3, -9, 0, 0, 2, 2};
  EXPECT_EQ(route_of(routing, products).experts, (std::vector{0, 1}));
  routing.adds_two_best = true;
  EXPECT_EQ(route_of(routing, products).experts, (std::vector{4, 5}));
  routing.n_active_groups = 2;
  EXPECT_EQ(route_of(routing, {1, 1, 1, 1, 1, 1}).experts, (std::vector{0, 1}));
}

TEST(Routing, SurvivesProductsThatAreNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const bool normalizes : {true, false}) {
    const Routing routing{.n_experts = 3, .n_active = 2, .normalizes = normalizes};
    for (const std::vector<float>& products :
         {std::vector{-inf, -inf, -inf}, {inf, inf, 0}, {NAN, 1, 2}, {1, NAN, 2}}) {
      for (const int expert : route_of(routing, products).experts) {
        EXPECT_GE(expert, 0);
        EXPECT_LT(expert, 3);
      }
    }
  }
}

}  // namespace
}  // namespace wick
