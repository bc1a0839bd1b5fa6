// An answer, read event by event. The provider's thread that produces it sets `wake` when there is
// more. One reader thread at a time; cancel() from any. Destroying an unfinished answer cancels it.
//
//   while (const auto event = answer->wait()) …    // blocks; the last event is a DoneEvent
//   while (const auto event = answer->poll()) …    // takes what is there (base/wake.h)
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "base/wake.h"
#include "provider/answer_report.h"
#include "wick/event.h"

namespace wick {

class Answer {
 public:
  virtual ~Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // The next event, without waiting. Empty: nothing yet, or the end, if is_over().
  std::optional<Event> poll() {
    if (is_over_) return std::nullopt;
    std::optional<Event> event = next();
    is_over_ = event && std::holds_alternative<DoneEvent>(*event);
    return event;
  }

  // Waits for the next event. Empty after the DoneEvent.
  std::optional<Event> wait() {
    while (!is_over_) {
      const std::uint32_t seen = wake_->signal();
      if (auto event = poll()) return event;
      wake_->wait(seen);
    }
    return std::nullopt;
  }

  bool is_over() const noexcept { return is_over_; }

  virtual void cancel() noexcept = 0;  // asynchronous; the answer ends with kCancelled

  // Whole once the answer is over. The reader's thread.
  virtual AnswerReport report() const { return {}; }

  // False while the request may still be refused, for a budget or by a remote API: a server begins
  // no stream before, so that the refusal has its own status. poll() sends it.
  virtual bool is_accepted() const noexcept { return true; }

 protected:
  // `wake` may be null: then the reader uses wait(), or polls.
  explicit Answer(std::shared_ptr<Wake> wake)
      : wake_(wake != nullptr ? std::move(wake) : std::make_shared<Wake>()) {}

  // As poll(); never asked again behind a DoneEvent.
  virtual std::optional<Event> next() = 0;

 private:
  std::shared_ptr<Wake> wake_;
  bool is_over_ = false;
};

}  // namespace wick
