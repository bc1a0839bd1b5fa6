// Prompt tokens per step for a target step time: a feedback controller that scales the token budget
// by target time / measured time. A step's time is a constant plus a part in proportion to its
// tokens, so with the gain below the budget converges and follows drift. It changes when tokens are
// computed, never which. Engine thread only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/sequence_memory.h"

namespace wick {

class StepCost {
 public:
  explicit StepCost(std::int64_t target_ns) : target_ns_(static_cast<double>(target_ns)) {}

  // Reports that a step of `n_decoding` single tokens and `n_prompt` prompt tokens took `ns`. Only
  // steps with several sequences (is_shared) follow the budget and update it.
  void measured(int n_decoding, int n_prompt, bool is_shared, std::int64_t ns) noexcept {
    const auto time = static_cast<double>(ns);
    if (n_prompt == 0) {
      if (n_decoding > 0) learn(decode_ns_, time);
      return;
    }
    learn(prompt_token_ns_, time / n_prompt);
    if (n_prompt >= kBlockTokens) {
      const double beside = n_decoding > 0 ? decode_ns_ : 0;
      learn(added_token_ns_, std::max(1.0, (time - beside) / n_prompt));
    }
    if (!is_shared) return;
    // If decoding alone exceeds the target, prompts get as much time as decoding.
    const double wished = n_decoding > 0 ? std::max(target_ns_, 2 * decode_ns_) : target_ns_;
    const bool was_full = n_prompt + kBlockTokens > budget_;
    if (!was_full && time < wished) return;  // the step was not full
    const double factor = std::clamp(1 + kGain * (wished / time - 1), 0.5, 1.5);
    const double from = was_full ? budget_ : n_prompt;
    budget_ = std::clamp(from * factor, double{kBlockTokens}, double{kMaxBudget});
  }

  // Whole blocks, at least one, at most `most` tokens.
  int prompt_budget(int most) const noexcept {
    return std::min(static_cast<int>(budget_) / kBlockTokens * kBlockTokens, most);
  }

  // Prompt tokens that add as much time to a step as its decoding takes; 0 = not yet known.
  int decode_tokens() const noexcept {
    if (added_token_ns_ == 0) return 0;
    return static_cast<int>(std::min(decode_ns_ / added_token_ns_, double{kMaxBudget}));
  }

  // Time per prompt token; 0 = not yet known.
  double prompt_token_ns() const noexcept { return prompt_token_ns_; }

 private:
  static constexpr double kGain = 0.5;
  static constexpr int kMaxBudget = 1 << 13;

  static void learn(double& mean, double value) noexcept {
    mean = mean == 0 ? value : mean + (value - mean) / 4;  // a moving average over about a dozen
  }

  double target_ns_;
  double budget_ = 4 * kBlockTokens;
  double decode_ns_ = 0;
  double prompt_token_ns_ = 0;  // of a whole step with prompts
  double added_token_ns_ = 0;   // without the step's decoding
};

}  // namespace wick
