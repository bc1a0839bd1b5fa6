// A reader that wants the last delta of a request alone: an estimate, or the vector of a text.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace wick {

class LastDelta final : public DeltaSink {
 public:
  explicit LastDelta(int n_values) : values(static_cast<std::size_t>(n_values)) {}

  bool offer(const TextDelta& delta) noexcept override {
    if (delta.stop == FinishReason::kNone) return true;
    if (delta.embedding.size() == values.size()) {
      std::copy(delta.embedding.begin(), delta.embedding.end(), values.begin());
    }
    finish_ = delta.stop;
    usage = delta.usage;
    if (delta.plan != nullptr) plan = *delta.plan;
    if (delta.error != nullptr) error_ = *delta.error;  // cold: the request has failed
    is_over_.store(true, std::memory_order_release);
    is_over_.notify_one();
    return true;
  }

  // Blocks until the engine has said its last word.
  Result<void> wait() const {
    is_over_.wait(false, std::memory_order_acquire);
    if (finish_ == FinishReason::kError) return error_;
    if (finish_ == FinishReason::kCancelled) {
      return Error{
          .code = ErrorCode::kCancelled, .id = "cancelled", .message = "the request was cancelled"};
    }
    return {};
  }

  // Once it is over:
  std::vector<float> values;
  Usage usage = {};
  RequestPlan plan = {};

 private:
  FinishReason finish_ = FinishReason::kNone;
  Error error_ = {};
  std::atomic<bool> is_over_ = false;
};

}  // namespace wick
