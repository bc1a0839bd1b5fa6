// The health of one target (provider, model and credential), derived from its answers: a circuit
// breaker, a retry budget and the time to first token. It sends no requests of its own. Any thread.
#pragma once

#include <cstdint>
#include <mutex>

#include "provider/answer_report.h"

namespace wick::route {

struct HealthOptions {
  int window = 20;         // outcomes that are looked at, at most 64
  int least_failures = 5;  // and half of the window, open the breaker
  std::int64_t open_ms = 30'000;
  std::int64_t credential_ms = 60'000;  // a credential that was refused
  double retries_per_request = 0.2, most_retries = 3;
};

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

class Health {
 public:
  explicit Health(const HealthOptions& options = {}) : options_(options) {}

  // Whether a request may go there now. After the time of an open breaker one request may, as a
  // probe; its outcome closes or opens the breaker. `turn` counts the requests of all targets.
  bool admit(std::int64_t now_ms, std::uint64_t turn = 0);
  void succeeded(std::int64_t now_ms);
  // `retry_after_ms` of the provider, -1 = none.
  void failed(Failure failure, std::int64_t retry_after_ms, std::int64_t now_ms);
  void left(std::int64_t now_ms);  // a request that ended without an outcome, such as by its client

  // Takes one from the retry budget: a fifth of the requests may be retries.
  bool take_retry();
  void saw_first_token(double ms);

  BreakerState state(std::int64_t now_ms) const;
  std::int64_t open_until_ms() const;
  Failure opened_by() const;  // the last failure that opened it
  double first_token_ms() const;  // smoothed; 0 = not known
  std::uint64_t last_turn() const;  // of the last request that was admitted

 private:
  void open(Failure failure, std::int64_t until_ms);

  const HealthOptions options_;
  mutable std::mutex mutex_;
  std::uint64_t turn_ = 0;
  std::uint64_t outcomes_ = 0;  // a bit for each, 1 = failed, the newest lowest
  int n_outcomes_ = 0;
  std::int64_t open_until_ = 0;
  Failure opened_by_ = Failure::kNone;
  bool is_open_ = false, is_probing_ = false;
  double retries_ = 3, first_token_ms_ = 0;
};

}  // namespace wick::route
