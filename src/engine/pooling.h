// A text's hidden states, one for each token behind the model's last norm, become one vector. Sums
// are taken in double, in the order of the positions, so the cut of a prompt into chunks changes no
// bit. Made with its memory; add() allocates nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace wick {

enum class Pooling : std::uint8_t {
  kNone,   // no vector is wanted
  kMean,   // of all tokens
  kFirst,  // the first token's: models that read both ways
  kLast    // the last token's, which has seen all others
};

class StatePool {
 public:
  StatePool() = default;

  StatePool(Pooling pooling, int d_model)
      : pooling_(pooling), sum_(pooling == Pooling::kNone ? 0 : static_cast<std::size_t>(d_model)) {
    values_.resize(sum_.size());
  }

  // The states [n, d_model] of the positions from `begin` on. Position 0 begins anew.
  void add(int begin, std::span<const float> states) noexcept {
    if (begin == 0) {
      n_ = 0;
      std::fill(sum_.begin(), sum_.end(), 0.0);
    }
    for (; !states.empty(); states = states.subspan(sum_.size()), ++n_) {
      if (pooling_ == Pooling::kFirst && n_ > 0) continue;
      const bool is_sum = pooling_ == Pooling::kMean;
      for (std::size_t i = 0; i < sum_.size(); ++i)
        sum_[i] = (is_sum ? sum_[i] : 0) + static_cast<double>(states[i]);
    }
    const double scale = pooling_ == Pooling::kMean ? 1.0 / std::max(1, n_) : 1.0;
    std::transform(sum_.begin(), sum_.end(), values_.begin(), [scale](double sum) {
      const auto value = static_cast<float>(sum * scale);
      return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;  // one NaN
    });
  }

  std::span<const float> values() const noexcept { return values_; }

 private:
  Pooling pooling_ = Pooling::kNone;
  int n_ = 0;  // positions
  std::vector<double> sum_ = {};
  std::vector<float> values_ = {};
};

}  // namespace wick
