// What a step costs on this machine, learnt from the steps that were: so much if sequences decode
// in it, so much more for each prompt token. It decides how many prompt tokens a step may carry,
// never what they are. Engine thread only.
//
// A fit by least squares of ns = decode * [somebody decodes] + prompt_token * tokens, in which a
// step counts less the older it is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/kv_cache.h"

namespace wick {

class StepCost {
 public:
  // A step of `n_decoding` single tokens and `n_prompt` prompt tokens took `ns`.
  void measured(int n_decoding, int n_prompt, std::int64_t ns) noexcept {
    const double d = n_decoding > 0 ? 1 : 0, n = n_prompt, t = static_cast<double>(ns);
    const auto add = [](double& sum, double value) { sum = kMemory * sum + value; };
    add(dd_, d * d);
    add(dn_, d * n);
    add(nn_, n * n);
    add(dt_, d * t);
    add(nt_, n * t);
    const double det = dd_ * nn_ - dn_ * dn_;
    if (nn_ < 1) {  // long ago
      if (dd_ > 0) decode_ns_ = dt_ / dd_;
    } else if (det > kDistinct * dd_ * nn_) {
      decode_ns_ = std::max(0.0, (nn_ * dt_ - dn_ * nt_) / det);
    }  // else all steps were alike, and which part cost what cannot be told: as it was
    if (n_prompt > 0) prompt_token_ns_ = std::max(nt_ - decode_ns_ * dn_, nt_ / 64) / nn_;
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
  static constexpr double kMemory = 0.9;     // the last dozen or two of steps count
  static constexpr double kDistinct = 0.01;  // steps differ enough to tell the two costs apart

  double dd_ = 0, dn_ = 0, nn_ = 0, dt_ = 0, nt_ = 0;
  double decode_ns_ = 0, prompt_token_ns_ = 0;
};

}  // namespace wick
