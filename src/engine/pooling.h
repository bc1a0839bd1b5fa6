// Pools the hidden states of a prompt (after the model's last norm) into one embedding. Sums are in
// double, in the order of positions, so prefill chunks change no bit. Allocates at construction
// only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "wick/generation.h"
#include "wick/usage.h"

namespace wick {

inline Error request_cancelled() {
  return {.code = ErrorCode::kCancelled, .id = "cancelled", .message = "the request was cancelled"};
}

using RequestId = std::uint64_t;

enum class Pooling : std::uint8_t {
  kMean,   // of all tokens
  kFirst,  // the first token's: bidirectional models (CLS)
  kLast    // the last token's
};

class EmbedResult {
 public:
  // `width`: of the embedding, which may differ from that of states (d_model).
  EmbedResult(RequestId id, Pooling pooling, int d_model, int width)
      : id_(id),
        pooling_(pooling),
        sum_(static_cast<std::size_t>(d_model)),
        width_(static_cast<std::size_t>(width)) {
    embedding_.values.reserve(std::max(sum_.size(), width_));
    embedding_.values.resize(sum_.size());
  }

  RequestId id() const noexcept { return id_; }

  // Any thread but the engine's, once: blocks until the request is over.
  Result<Embedding> wait() {
    is_over_.wait(false, std::memory_order_acquire);
    if (finish_ == FinishReason::kEos) return std::move(embedding_);
    return error_;
  }

  // The engine's thread. Hot:

  // The states [n, d_model] of the positions from `begin` on. Position 0 begins anew.
  void add(int begin, std::span<const float> states) noexcept {
    if (begin == 0) {
      embedding_.tokens = 0;
      std::fill(sum_.begin(), sum_.end(), 0.0);
    }
    for (; !states.empty(); states = states.subspan(sum_.size()), ++embedding_.tokens) {
      if (pooling_ == Pooling::kFirst && embedding_.tokens > 0) continue;
      const bool is_sum = pooling_ == Pooling::kMean;
      for (std::size_t i = 0; i < sum_.size(); ++i)
        sum_[i] = (is_sum ? sum_[i] : 0) + static_cast<double>(states[i]);
    }
    const double scale = pooling_ == Pooling::kMean ? 1.0 / std::max(1, embedding_.tokens) : 1.0;
    std::transform(sum_.begin(), sum_.end(), embedding_.values.begin(), [scale](double sum) {
      const auto value = static_cast<float>(sum * scale);
      return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;  // one NaN
    });
  }

  std::span<const float> pooled() const noexcept { return embedding_.values; }

  // What a model's dense layers made of pooled().
  void project(std::span<const float> values) noexcept {
    embedding_.values.resize(width_);  // cold: within the capacity
    std::copy_n(values.begin(), width_, embedding_.values.begin());
  }

  // `error` of kError, else null.
  void finish(FinishReason finish, const Error* error) noexcept {
    finish_ = finish;
    if (error != nullptr) error_ = *error;  // cold: the request has failed
    is_over_.store(true, std::memory_order_release);
    is_over_.notify_one();
  }

 private:
  RequestId id_;
  Pooling pooling_;
  std::vector<double> sum_;
  std::size_t width_;
  Embedding embedding_ = {};
  FinishReason finish_ = FinishReason::kNone;
  Error error_ = request_cancelled();
  std::atomic<bool> is_over_ = false;
};

}  // namespace wick
