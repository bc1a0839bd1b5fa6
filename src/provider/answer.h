// An answer on its way, to be pulled event by event. Its maker, a thread of the provider's, sets
// `wake` when there is more. One reader thread at a time; cancel() from any. Dropped before its
// end, it is cancelled.
//
//   while (const auto event = answer->wait()) …    // blocks; the last event is a DoneEvent
//   while (const auto event = answer->poll()) …    // takes what is there (base/wake.h)
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "base/wake.h"
#include "wick/event.h"

namespace wick {

class Answer {
 public:
  virtual ~Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // The next event if it is there. Nothing: later, or never, if is_over().
  std::optional<Event> poll() {
    if (is_over_) return std::nullopt;
    std::optional<Event> event = next();
    is_over_ = event && std::holds_alternative<DoneEvent>(*event);
    return event;
  }

  // The next event, and waits for it. Nothing once the DoneEvent was given.
  std::optional<Event> wait() {
    while (!is_over_) {
      const std::uint32_t seen = wake_->signal();
      if (auto event = poll()) return event;
      wake_->wait(seen);
    }
    return std::nullopt;
  }

  bool is_over() const noexcept { return is_over_; }

  virtual void cancel() noexcept = 0;  // takes effect soon; the answer then ends as kCancelled

 protected:
  // `wake` may be null: then the reader waits, or looks when it likes.
  explicit Answer(std::shared_ptr<Wake> wake)
      : wake_(wake != nullptr ? std::move(wake) : std::make_shared<Wake>()) {}

  // As poll(); never asked again behind a DoneEvent.
  virtual std::optional<Event> next() = 0;

 private:
  std::shared_ptr<Wake> wake_;
  bool is_over_ = false;
};

}  // namespace wick
