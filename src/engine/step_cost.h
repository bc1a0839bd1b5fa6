// What a step costs on this machine, learnt from the steps that were: a step of decoding sequences
// so many nanoseconds, each prompt token beside them so many more. It decides how many prompt
// tokens a step may carry, never what they are. Engine thread only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/kv_cache.h"

namespace wick {

class StepCost {
 public:
  // A step of `n_decoding` single tokens and `n_prompt` prompt tokens took `ns`.
  void measured(int n_decoding, int n_prompt, std::int64_t ns) noexcept {
    const auto time = static_cast<double>(ns);
    if (n_prompt == 0) {
      learn(decode_ns_, time);
    } else if (n_prompt >= kBlockTokens) {
      // At least half the step is the prompt's: what decoding cost may be long out of date.
      const double base = n_decoding > 0 ? std::min(decode_ns_, time / 2) : 0;
      learn(prompt_token_ns_, (time - base) / n_prompt);
    }
  }

  // Prompt tokens so that a step takes about `target_ns`, whole blocks, at least one. A machine too
  // slow for the target gives prompts as much time as decoding takes: both go on.
  int prompt_budget(int n_decoding, std::int64_t target_ns, int most) const noexcept {
    if (prompt_token_ns_ == 0) return std::min(kFirstBudget, most);
    const double base = n_decoding > 0 ? decode_ns_ : 0;
    const double time = std::max(static_cast<double>(target_ns) - base, base);
    const double tokens = std::min(time / prompt_token_ns_, static_cast<double>(most));
    const int whole = static_cast<int>(tokens) / kBlockTokens * kBlockTokens;
    return std::min(std::max(whole, kBlockTokens), most);
  }

  double decode_ns() const noexcept { return decode_ns_; }  // 0 = not known yet

  double prompt_token_ns() const noexcept { return prompt_token_ns_; }

 private:
  static constexpr int kFirstBudget = 4 * kBlockTokens;

  static void learn(double& mean, double value) noexcept {
    mean = mean == 0 ? value : mean + (value - mean) / 4;  // the last dozen steps count
  }

  double decode_ns_ = 0, prompt_token_ns_ = 0;
};

}  // namespace wick
