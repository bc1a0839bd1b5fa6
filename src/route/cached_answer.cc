#include "route/cached_answer.h"

#include <atomic>
#include <mutex>

namespace wick::route {

namespace {

class CachedAnswer final : public Answer {
 public:
  CachedAnswer(std::shared_ptr<ResponseCache> cache, std::shared_ptr<RouteClock> clock,
               CachedStart how, std::shared_ptr<Wake> wake)
      : Answer(wake),
        cache_(std::move(cache)),
        clock_(std::move(clock)),
        how_(std::move(how)),
        wake_(std::move(wake)) {}

  ~CachedAnswer() override {
    if (is_leader_) cache_->finish(how_.key, nullptr, clock_->now_ms());
  }

  // Looks the key up; a leader starts the answer.
  Result<void> begin() {
    if (how_.similar != nullptr) {
      response_ = how_.similar;
      wake_->set();
      return {};
    }
    const std::int64_t now_ms = clock_->now_ms();
    ResponseCache::Found found = is_leader_ ? cache_->look_up_again(how_.key, now_ms)
                                            : cache_->look_up(how_.key, now_ms, wake_);
    response_ = std::move(found.response);
    is_leader_ = found.is_leader;
    again_ms_ = now_ms + found.wait_ms;
    if (!is_leader_) return {};
    if (found.wait_ms > 0) {
      clock_->at(again_ms_, wake_);
      return {};
    }
    auto started = how_.start(wake_);
    if (!started) {
      end_making(nullptr);
      return std::move(started).error();
    }
    const std::lock_guard lock(mutex_);
    inner_ = *std::move(started);
    if (is_cancelled_) inner_->cancel();
    return {};
  }

  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    if (inner_ != nullptr) inner_->cancel();
    wake_->set();
  }

  AnswerReport report() const override {
    return response_ != nullptr ? response_->report : inner_ ? inner_->report() : AnswerReport{};
  }

  bool is_accepted() const noexcept override { return inner_ == nullptr || inner_->is_accepted(); }

 protected:
  std::optional<Event> next() override {
    if (inner_ == nullptr && is_cancelled_) return DoneEvent{.finish = FinishReason::kCancelled};
    if (inner_ == nullptr && response_ == nullptr) {
      if (is_leader_ && clock_->now_ms() < again_ms_) return std::nullopt;
      // Another request made this answer: it is there now, or it failed and this one's turn comes.
      if (const auto begun = begin(); !begun)
        return DoneEvent{.finish = FinishReason::kError, .error = begun.error()};
    }
    if (response_ != nullptr) return replay();
    if (inner_ == nullptr) return std::nullopt;
    std::optional<Event> event = inner_->poll();
    if (event && is_leader_) record(*event);
    return event;
  }

 private:
  Event replay() {
    Event event = response_->events[n_replayed_++];
    auto* const done = std::get_if<DoneEvent>(&event);
    if (done == nullptr) return event;
    const bool is_similar = how_.similar != nullptr;
    done->parameters.push_back({"cache", std::string(is_similar ? "similar" : "hit"), "router"});
    if (is_similar) done->parameters.push_back({"similarity", how_.similarity, "router"});
    return event;
  }

  void record(const Event& event) {
    made_.events.push_back(event);
    bytes_ += bytes_of(event);
    if (bytes_ > cache_->options().max_bytes) return end_making(nullptr);  // too large to keep
    const auto* const done = std::get_if<DoneEvent>(&event);
    if (done == nullptr) return;
    made_.report = inner_->report();
    const bool is_kept = done->finish != FinishReason::kError &&
                         done->finish != FinishReason::kCancelled && how_.may_keep(made_.report);
    end_making(is_kept ? std::make_shared<CachedResponse>(std::move(made_)) : nullptr);
  }

  void end_making(std::shared_ptr<const CachedResponse> response) {
    is_leader_ = false;
    made_ = {};
    const bool is_kept = response != nullptr;
    cache_->finish(how_.key, std::move(response), clock_->now_ms());
    if (is_kept && how_.on_kept) how_.on_kept();
  }

  const std::shared_ptr<ResponseCache> cache_;
  const std::shared_ptr<RouteClock> clock_;
  const CachedStart how_;
  const std::shared_ptr<Wake> wake_;
  std::shared_ptr<const CachedResponse> response_ = {};  // that is replayed
  std::size_t n_replayed_ = 0, bytes_ = 0;
  bool is_leader_ = false;
  std::int64_t again_ms_ = 0;  // when to ask for the answer of another machine, with is_leader_
  CachedResponse made_ = {};

  std::mutex mutex_;  // of the two below, for cancel()
  std::unique_ptr<Answer> inner_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

Result<std::unique_ptr<Answer>> start_cached(std::shared_ptr<ResponseCache> cache,
                                             std::shared_ptr<RouteClock> clock, CachedStart how,
                                             std::shared_ptr<Wake> wake) {
  if (wake == nullptr) wake = std::make_shared<Wake>();
  auto answer = std::make_unique<CachedAnswer>(std::move(cache), std::move(clock), std::move(how),
                                               std::move(wake));
  WICK_DO(answer->begin());
  return std::unique_ptr<Answer>(std::move(answer));
}

}  // namespace wick::route
