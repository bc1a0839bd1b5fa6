// How many prompt tokens a step may carry so that it takes about as long as wished, learnt from the
// steps that were: a controller that scales the budget by wished over taken time. A step's time is
// a constant and a part in proportion to its tokens, so a step of the gain below always moves
// towards the wished time and settles there, whatever the two are and however they drift. The
// budget never decides what tokens are. Engine thread only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/sequence_memory.h"

namespace wick {

class StepCost {
 public:
  explicit StepCost(std::int64_t target_ns) : target_ns_(static_cast<double>(target_ns)) {}

  // A step of `n_decoding` single tokens and `n_prompt` prompt tokens took `ns`. Only steps that
  // sequences share (is_shared) were cut to the budget and say something about it.
  void measured(int n_decoding, int n_prompt, bool is_shared, std::int64_t ns) noexcept {
    const auto time = static_cast<double>(ns);
    if (n_prompt == 0) {
      if (n_decoding > 0) learn(decode_ns_, time);
      return;
    }
    learn(prompt_token_ns_, time / n_prompt);
    if (!is_shared) return;
    // A machine too slow for the target gives prompts as much time as decoding takes: both go on.
    const double wished = n_decoding > 0 ? std::max(target_ns_, 2 * decode_ns_) : target_ns_;
    const bool was_full = n_prompt + kBlockTokens > budget_;
    if (!was_full && time < wished) return;  // there was no more to do
    const double factor = std::clamp(1 + kGain * (wished / time - 1), 0.5, 1.5);
    const double from = was_full ? budget_ : n_prompt;
    budget_ = std::clamp(from * factor, double{kBlockTokens}, double{kMaxBudget});
  }

  // Whole blocks, at least one, at most `most` tokens.
  int prompt_budget(int most) const noexcept {
    return std::min(static_cast<int>(budget_) / kBlockTokens * kBlockTokens, most);
  }

  // Of a step, for each prompt token in it; 0 = not known yet.
  double prompt_token_ns() const noexcept { return prompt_token_ns_; }

 private:
  static constexpr double kGain = 0.5;
  static constexpr int kMaxBudget = 1 << 13;

  static void learn(double& mean, double value) noexcept {
    mean = mean == 0 ? value : mean + (value - mean) / 4;  // the last dozen count
  }

  double target_ns_;
  double budget_ = 4 * kBlockTokens;
  double decode_ns_ = 0, prompt_token_ns_ = 0;
};

}  // namespace wick
