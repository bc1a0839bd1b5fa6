// A clock that moves only when it is told to, and providers that fail by a list or by chance. One
// thread.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mix.h"
#include "provider/provider.h"
#include "route/clock.h"

namespace wick::route::test {

constexpr std::int64_t kNoon = 1'795'003'200;  // 2026-11-18, 12:00 UTC

class VirtualClock : public RouteClock {
 public:
  std::int64_t now_ms() const noexcept override { return now_; }

  std::int64_t unix_s() const noexcept override { return kNoon + now_ / 1000; }

  void at(std::int64_t ms, const std::shared_ptr<Wake>& wake) override {
    timers_.emplace(ms, wake);
  }

  // To the next timer.
  void advance() {
    if (timers_.empty()) return;
    now_ = std::max(now_, timers_.begin()->first);
    timers_.erase(timers_.begin());
  }

  void pass(std::int64_t ms) { now_ += ms; }

 private:
  std::int64_t now_ = 0;
  std::multimap<std::int64_t, std::weak_ptr<Wake>> timers_;
};

struct SimOutcome {
  Failure failure = Failure::kNone;
  bool is_late = false;  // it fails behind content
};

class SimProvider : public Provider {
 public:
  explicit SimProvider(std::shared_ptr<VirtualClock> clock) : clock_(std::move(clock)) {}

  std::string_view name() const noexcept override { return name_; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override;

  bool starts_at_once(const std::string&) const override { return is_quick; }

  // A token for each byte; a chat's prompt is two.
  Result<std::vector<TokenId>> tokenize(const std::string&, std::string_view text) override {
    return std::vector<TokenId>(text.begin(), text.end());
  }

  Result<std::vector<TokenId>> prompt_tokens(const Request&) override {
    return std::vector<TokenId>{1, 2};
  }

  Request last = {};
  std::string name_ = {};
  std::deque<Failure> failures = {};  // of the next requests
  std::vector<std::string> ignored = {};
  std::size_t n_events = 100;  // of an answer that come, at most
  bool fails_after_content = false, tells_usage = true, is_quick = false;
  // How a request ends that `failures` says nothing of, by 64 random bits; empty: it is answered.
  std::function<SimOutcome(std::uint64_t chance)> plan = {};
  std::uint64_t seed = 1;
  int n_started = 0;

 private:
  std::shared_ptr<VirtualClock> clock_;
};

class SimAnswer final : public Answer {
 public:
  SimAnswer(std::shared_ptr<Wake> wake, std::deque<Event> events, AnswerReport report)
      : Answer(std::move(wake)), events_(std::move(events)), report_(std::move(report)) {}

  void cancel() noexcept override { events_ = {DoneEvent{.finish = FinishReason::kCancelled}}; }

  AnswerReport report() const override { return report_; }

 protected:
  std::optional<Event> next() override {
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  std::deque<Event> events_;
  AnswerReport report_;
};

inline Result<std::unique_ptr<Answer>> SimProvider::start(const Request& request,
                                                          std::shared_ptr<Wake> wake) {
  ++n_started;
  last = request;
  const std::uint64_t chance = splitmix64(seed, static_cast<std::uint64_t>(n_started));
  clock_->pass(1 + static_cast<std::int64_t>((chance >> 20U) % 3));
  SimOutcome outcome{.is_late = fails_after_content};
  if (!failures.empty()) {
    outcome.failure = failures.front();
    failures.pop_front();
  } else if (plan) {
    outcome = plan(chance);
  }
  const auto [failure, is_late] = outcome;
  std::deque<Event> events;
  AnswerReport report{.provider = name_,
                      .failure = failure,
                      .is_usage_estimated = !tells_usage,
                      .ignored = ignored};
  if (failure == Failure::kNone || is_late) {
    events.emplace_back(TextEvent{name_.substr(0, 3)});
    if (failure == Failure::kNone) events.emplace_back(TextEvent{name_.substr(3)});
  }
  DoneEvent done{.finish = FinishReason::kEos};
  if (tells_usage) done.usage = {.prompt_tokens = 7, .generated_tokens = 5};
  if (failure != Failure::kNone) {
    done.finish = FinishReason::kError;
    done.error = Error{.code = ErrorCode::kUnavailable, .id = "sim", .message = "as simulated"};
    report.status = failure == Failure::kNetwork || failure == Failure::kTimeout ? 0 : 500;
    if (failure == Failure::kRateLimit) report.retry_after_ms = 1000;
  }
  events.emplace_back(std::move(done));
  events.resize(std::min(events.size(), n_events));
  if (wake != nullptr) wake->set();
  return std::unique_ptr<Answer>(
      std::make_unique<SimAnswer>(std::move(wake), std::move(events), std::move(report)));
}

}  // namespace wick::route::test
