// What chat and run share: an answer that appears as it is made, Ctrl-C that stops it, and the line
// of figures behind it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "provider/provider.h"

namespace wick {

// While it lives, SIGINT asks this stop source to stop instead of ending the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

  bool was_hit() const noexcept { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  void (*previous_)(int) = nullptr;
};

struct Answer {
  std::string text = {};
  std::optional<ScoresEvent> scores = {};
  DoneEvent done = {};
};

// Collects events; prints text to stdout as it comes if `is_printing`.
EventSink collect(Answer& answer, bool is_printing);

// "12 prompt tokens (8 cached) at 310.2 tokens/s, 40 generated at 95.1 tokens/s, stop": how an
// answer went.
std::string figures(const DoneEvent& done);

// {"temperature":{"value":0.8,"origin":"default"},…}
Value to_value(const std::vector<EffectiveParameter>& parameters);

// {"text","stop","usage":{…},"parameters":{…}}, and with scores "logprobs" and "prompt_logprobs"
Value to_value(const Answer& answer);

}  // namespace wick
