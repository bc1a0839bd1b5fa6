// Limits of one provider that are kept on this side, so that it need not refuse: requests and
// tokens in any minute, and requests at the same time. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/wake.h"

namespace wick::route {

struct LimitOptions {  // 0 = no limit
  std::int64_t requests_per_minute = 0, tokens_per_minute = 0;
  int parallel = 0;

  bool is_any() const noexcept {
    return requests_per_minute > 0 || tokens_per_minute > 0 || parallel > 0;
  }
};

class Limiter {
 public:
  static constexpr std::int64_t kNever = -1;   // the request is larger than the limit
  static constexpr std::int64_t kOnWake = -2;  // as soon as another request ends

  // A request that was let through.
  struct Pass {
    std::int64_t tokens = 0, second = 0;
    bool is_taken = false;
  };

  explicit Limiter(const LimitOptions& options) : options_(options) {}

  // 0: it is let through, and `pass` must be given to end(). Else how many ms to wait before the
  // next try, kNever, or kOnWake: then `wake` is set when another request ends.
  // `tokens`: at most, of prompt and answer.
  std::int64_t take(std::int64_t tokens, std::int64_t now_ms, const std::shared_ptr<Wake>& wake,
                    Pass& pass);
  // The request is over and has used so many tokens; fewer than it took are free again. Does
  // nothing for a pass that was not taken or has ended.
  void end(Pass& pass, std::int64_t used_tokens);
  // As if the request had never been: it was not sent.
  void undo(Pass& pass);

  int running() const;

  const LimitOptions& options() const noexcept { return options_; }

 private:
  // A minute lies within 61 seconds of the clock, so 61 sums are never too few.
  static constexpr std::int64_t kSeconds = 61;

  struct Sum {
    std::int64_t second = -kSeconds, requests = 0, tokens = 0;
  };

  std::int64_t wait_for(std::int64_t now_ms, std::int64_t tokens) const;
  void leave(Pass& pass, std::int64_t requests, std::int64_t tokens);

  const LimitOptions options_;
  mutable std::mutex mutex_;
  std::array<Sum, kSeconds> sums_ = {};  // by second modulo kSeconds
  int running_ = 0;
  std::vector<std::weak_ptr<Wake>> waiting_ = {};  // for another request's end
};

}  // namespace wick::route
