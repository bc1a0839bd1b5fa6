#include "cli/answer.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <thread>

#include "base/strings.h"
#include "cli/json_out.h"
#include "cli/report.h"

namespace wick {

namespace {

// A signal handler may do next to nothing: it writes one byte, and a thread that waits for it
// requests the stop.
std::array<int, 2> pipe_ends = {-1, -1};
std::stop_source* target = nullptr;
std::thread watcher;

void on_signal(int /*number*/) {
  const char byte = 'i';
  static_cast<void>(::write(pipe_ends[1], &byte, 1) == 1);
}

}  // namespace

Interrupt::Interrupt() {
  if (::pipe(pipe_ends.data()) != 0) return;  // Ctrl-C then keeps its ordinary meaning
  target = &source_;
  watcher = std::thread([] {
    char byte = 0;
    while (::read(pipe_ends[0], &byte, 1) == 1 && byte == 'i')
      target->request_stop();
  });
  previous_ = std::signal(SIGINT, on_signal);
}

Interrupt::~Interrupt() {
  if (!watcher.joinable()) return;
  std::signal(SIGINT, previous_);
  const char byte = 'q';
  static_cast<void>(::write(pipe_ends[1], &byte, 1) == 1);
  watcher.join();
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

EventSink collect(Answer& answer, bool is_printing) {
  const bool is_shown = is_terminal(STDOUT_FILENO);
  return [&answer, is_printing, is_shown](const ChatEvent& event) {
    if (const auto* text = std::get_if<TextEvent>(&event)) {
      answer.text += text->text;
      if (!is_printing) return;
      if (is_shown) {
        std::cout << terminal_safe(text->text) << std::flush;
      } else {
        std::cout << text->text << std::flush;
      }
    } else if (const auto* scores = std::get_if<ScoresEvent>(&event)) {
      answer.scores = *scores;
    } else if (const auto* done = std::get_if<DoneEvent>(&event)) {
      answer.done = *done;
    }
  };
}

namespace {

std::string per_second(int tokens, double ms) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f", ms > 0 ? tokens / ms * 1000 : 0);
  return text.data();
}

}  // namespace

std::string figures(const DoneEvent& done) {
  const Usage& u = done.usage;
  std::string line = cat(u.prompt_tokens, " prompt tokens");
  if (u.cached_tokens > 0) line += cat(" (", u.cached_tokens, " cached)");
  line += cat(" at ", per_second(u.prompt_tokens - u.cached_tokens, u.prompt_ms), " tokens/s, ",
              u.generated_tokens, " generated");
  if (u.generated_tokens > 1) {  // the first one belongs to the prompt's time
    line += cat(" at ", per_second(u.generated_tokens - 1, u.generate_ms), " tokens/s");
  }
  return cat(line, ", ", name(done.stop));
}

namespace {

// Where the reuse of the prompt ended and why; null if it did not.
Value to_value(const CacheMiss& miss) {
  if (miss.reason == MissReason::kNone) return Value(nullptr);
  return json_object({{"reason", name(miss.reason)},
                      {"position", miss.position},
                      {"wanted", miss.wanted},
                      {"cached", miss.cached}});
}

// A whole number without the ".0" of a double.
Value number(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    return Value(static_cast<std::int64_t>(value));
  }
  return Value(value);
}

Value to_value(const std::vector<ScoredToken>& tokens) {
  Array array;
  for (const ScoredToken& token : tokens) {
    Value value =
        json_object({{"id", token.id}, {"token", token.bytes}, {"logprob", token.logprob}});
    if (!token.likeliest.empty()) (*value.object())["top"] = to_value(token.likeliest);
    array.push_back(std::move(value));
  }
  return Value(std::move(array));
}

}  // namespace

Value to_value(const std::vector<EffectiveParameter>& parameters) {
  Object object;
  for (const EffectiveParameter& one : parameters) {
    const auto* const text = std::get_if<std::string>(&one.value);
    object[one.key] = json_object(
        {{"value", text != nullptr ? Value(*text) : number(std::get<double>(one.value))},
         {"origin", one.origin}});
  }
  return Value(std::move(object));
}

Value to_value(const Answer& answer) {
  const Usage& u = answer.done.usage;
  Value value = json_object({{"text", answer.text},
                             {"stop", name(answer.done.stop)},
                             {"usage", json_object({{"prompt_tokens", u.prompt_tokens},
                                                    {"cached_tokens", u.cached_tokens},
                                                    {"cache_miss", to_value(u.miss)},
                                                    {"generated_tokens", u.generated_tokens},
                                                    {"guessed_tokens", u.guessed_tokens},
                                                    {"right_guesses", u.right_guesses},
                                                    {"queue_ms", u.queue_ms},
                                                    {"prompt_ms", u.prompt_ms},
                                                    {"generate_ms", u.generate_ms}})},
                             {"parameters", to_value(answer.done.parameters)}});
  Object& object = *value.object();
  if (answer.scores) object["logprobs"] = to_value(answer.scores->tokens);
  if (answer.scores && !answer.scores->prompt.empty()) {
    object["prompt_logprobs"] = to_value(answer.scores->prompt);
  }
  return value;
}

}  // namespace wick
