// Adaptive draft length: bounds the cost of rejected draft tokens, each a row computed for nothing.
// Engine thread only.
//
// DraftControl (one per sequence) keeps a credit: a rejected token costs one, an accepted one earns
// one, and 64 tokens of the answer earn one, so rejected <= kFirst + accepted + answer / 64. The
// draft length doubles while all draft tokens are accepted, else falls to the number accepted.
//
// DraftCost (one per engine) measures time: drafting pays if acceptance rate * time of a step >
// time of one more row in a step. If not, drafting pauses and is tried again later. It changes when
// tokens come, never which.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wick {

class DraftControl {
 public:
  // Length of the next draft, at most `most`.
  int length(int most) const noexcept { return std::min({most, length_, credit_ / kToken}); }

  void sampled() noexcept { credit_ = std::min(credit_ + 1, kMost * kToken); }

  void verified(int n_drafted, int n_accepted) noexcept {
    const int gain = (n_accepted - (n_drafted - n_accepted)) * kToken;
    credit_ = std::clamp(credit_ + gain, 0, kMost * kToken);
    length_ = n_accepted == n_drafted ? std::min(2 * length_, kMost) : std::max(1, n_accepted);
  }

 private:
  static constexpr int kToken = 64;  // credit is counted in 64ths of a token
  static constexpr int kFirst = 4, kMost = 64;

  int credit_ = kFirst * kToken;
  int length_ = 2;
};

class DraftCost {
 public:
  // Reports a step of one sequence, without and with draft tokens.
  void step_without(std::int64_t ns) noexcept { learn(plain_ns_, static_cast<double>(ns)); }

  void step_with(std::int64_t ns, int n_drafted, int n_accepted) noexcept {
    if (plain_ns_ == 0) return;
    ++n_seen_;
    learn(row_ns_, std::max(1.0, static_cast<double>(ns) - plain_ns_) / n_drafted);
    const double weight = std::min(1.0, n_drafted / 16.0);
    acceptance_ += (static_cast<double>(n_accepted) / n_drafted - acceptance_) * weight;
  }

  // Asked once a step.
  bool is_worth_it() noexcept {
    if (n_seen_ < kEnough || acceptance_ * plain_ns_ >= row_ns_) {
      n_paused_ = 0;
      return true;
    }
    if (++n_paused_ <= kPause) return false;
    n_paused_ = 0;
    return true;
  }

 private:
  static constexpr int kPause = 64;  // steps
  static constexpr int kEnough = 8;  // steps with drafts before their mean counts

  // A running minimum-like mean: on a busy machine single steps measure too long.
  static void learn(double& mean, double value) noexcept {
    const double weight = value < mean ? 1.0 / 4 : 1.0 / 32;
    mean = mean == 0 ? value : mean + (value - mean) * weight;
  }

  double plain_ns_ = 0, row_ns_ = 0;  // 0 = not known yet
  double acceptance_ = 1;
  int n_paused_ = 0, n_seen_ = 0;
};

}  // namespace wick
