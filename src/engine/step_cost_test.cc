#include "engine/step_cost.h"

#include <gtest/gtest.h>

#include <random>

namespace wick {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A machine: a decoding step so long, each prompt token so long, give or take a fifth.
struct Machine {
  double decode_ms = 10, token_ms = 1;
  std::mt19937 random{1};

  std::int64_t step(int n_decoding, int n_prompt) {
    const double noise = 0.8 + 0.4 * static_cast<double>(random() % 1000) / 1000;
    const double ms = (n_decoding > 0 ? decode_ms : 0) + token_ms * n_prompt;
    return static_cast<std::int64_t>(ms * noise * static_cast<double>(kMs));
  }
};

int budget_after(Machine& machine, StepCost& cost, int steps, int n_decoding) {
  for (int i = 0; i < steps; ++i) {
    const int n = cost.prompt_budget(512);
    cost.measured(n_decoding, n, true, machine.step(n_decoding, n));
    if (i % 5 == 0) cost.measured(n_decoding, 0, true, machine.step(n_decoding, 0));
  }
  return cost.prompt_budget(512);
}

TEST(StepCost, BeginsSmallWhereNothingIsKnown) {
  EXPECT_EQ(StepCost(100 * kMs).prompt_budget(512), 64);
  EXPECT_EQ(StepCost(100 * kMs).prompt_budget(40), 40);
}

TEST(StepCost, FillsTheTargetTime) {
  Machine machine;
  StepCost cost(100 * kMs);
  const int budget = budget_after(machine, cost, 50, 4);
  EXPECT_NEAR(budget, 90, 24);
  EXPECT_EQ(budget % 16, 0);
}

TEST(StepCost, FollowsAMachineThatBecomesSlower) {
  Machine machine;
  StepCost cost(100 * kMs);
  budget_after(machine, cost, 50, 4);
  machine.decode_ms = 20;
  machine.token_ms = 4;
  EXPECT_NEAR(budget_after(machine, cost, 30, 4), 20, 12);
}

TEST(StepCost, GivesPromptsAsMuchTimeAsDecodingWhereTheTargetCannotBeMet) {
  Machine machine{.decode_ms = 400, .token_ms = 5};
  StepCost cost(100 * kMs);
  EXPECT_NEAR(budget_after(machine, cost, 50, 2), 80, 32);
}

TEST(StepCost, AFewTokensInAStepSayNothingAboutMany) {
  Machine machine;
  StepCost cost(100 * kMs);
  const int before = budget_after(machine, cost, 50, 4);
  for (int i = 0; i < 50; ++i)
    cost.measured(4, 1 + i % 8, true, machine.step(4, 1 + i % 8));
  EXPECT_EQ(cost.prompt_budget(512), before);
}

TEST(StepCost, APromptThatHadAStepToItselfSaysNothingAboutSharedOnes) {
  Machine machine;
  StepCost cost(100 * kMs);
  const int before = budget_after(machine, cost, 50, 4);
  cost.measured(0, 512, false, machine.step(0, 512));
  EXPECT_EQ(cost.prompt_budget(512), before);
}

TEST(StepCost, KnowsHowManyPromptTokensTakeTheTimeOfDecoding) {
  Machine machine;
  StepCost cost(100 * kMs);
  EXPECT_EQ(cost.decode_tokens(), 0);
  budget_after(machine, cost, 50, 4);
  EXPECT_NEAR(cost.decode_tokens(), 10, 3);
  machine.decode_ms = 40;
  budget_after(machine, cost, 50, 4);
  EXPECT_NEAR(cost.decode_tokens(), 40, 12);
}

TEST(StepCost, StaysBetweenABlockAndAllThereMayBe) {
  for (const double token_ms : {1e-4, 1e-2, 1.0, 100.0, 1e4}) {
    Machine machine{.token_ms = token_ms};
    StepCost cost(100 * kMs);
    for (int i = 0; i < 30; ++i) {
      const int budget = budget_after(machine, cost, 1, i % 2);
      EXPECT_GE(budget, 16);
      EXPECT_LE(budget, 512);
    }
  }
}

}  // namespace
}  // namespace wick
