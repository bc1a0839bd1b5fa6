// One list of fields (pass()) serves both directions: BytesWriter and BytesReader have the same
// operations. A number has 8 bytes; a text and a list begin with their length, a variant with its
// index.
#include "route/response_bytes.h"

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_reader.h"

namespace wick::route {

namespace {

constexpr int kMaxNesting = 2;  // of logprobs within logprobs

class BytesWriter {
 public:
  template <class T>
  void number(T& value) {
    std::uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<T>) {
      bits = std::bit_cast<std::uint64_t>(value);
    } else {
      bits = static_cast<std::uint64_t>(value);
    }
    for (int shift = 0; shift < 64; shift += 8)
      bytes.push_back(static_cast<char>(bits >> shift & 0xFFU));
  }

  template <class T>
  void choice(T& value, T /*last*/) {
    auto index = static_cast<std::uint64_t>(value);
    number(index);
  }

  void text(std::string& value) {
    std::uint64_t size = value.size();
    number(size);
    bytes += value;
  }

  template <class T>
  void list(std::vector<T>& values) {
    std::uint64_t size = values.size();
    number(size);
    for (T& value : values)
      pass(*this, value);
  }

  template <class... Ts>
  void either(std::variant<Ts...>& value) {
    std::uint64_t index = value.index();
    number(index);
    std::visit([this](auto& one) { pass(*this, one); }, value);
  }

  std::string bytes = {};
  int depth = 0;
};

// After the first value that is wrong all others are 0 or empty, and is_wrong() is true.
class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : in_(std::as_bytes(std::span(bytes))) {}

  template <class T>
  void number(T& value) {
    const std::uint64_t bits = word();
    if constexpr (std::is_floating_point_v<T>) {
      value = std::bit_cast<T>(bits);
    } else {
      value = static_cast<T>(bits);
      is_wrong_ = is_wrong_ || static_cast<std::uint64_t>(value) != bits;
    }
  }

  template <class T>
  void choice(T& value, T last) {
    const std::uint64_t index = word();
    is_wrong_ = is_wrong_ || index > static_cast<std::uint64_t>(last);
    if (!is_wrong_) value = static_cast<T>(index);
  }

  void text(std::string& value) {
    const auto read = in_.take_text(word());
    if (!read) is_wrong_ = true;
    if (!is_wrong_) value = *read;
  }

  template <class T>
  void list(std::vector<T>& values) {
    for (std::uint64_t left = word(); left > 0 && !is_wrong_; --left)
      pass(*this, values.emplace_back());
  }

  template <class... Ts>
  void either(std::variant<Ts...>& value) {
    const std::uint64_t index = word();
    is_wrong_ = is_wrong_ || index >= sizeof...(Ts);
    std::uint64_t n = 0;
    const auto try_one = [&](auto made) {
      if (n++ != index || is_wrong_) return;
      pass(*this, made);
      value = std::move(made);
    };
    (try_one(Ts()), ...);
  }

  bool is_wrong() const noexcept { return is_wrong_; }

  bool is_at_end() const noexcept { return in_.remaining() == 0; }

  void fail() noexcept { is_wrong_ = true; }

  int depth = 0;

 private:
  std::uint64_t word() {
    const auto read = is_wrong_ ? std::nullopt : in_.read<std::uint64_t>();
    if (!read) is_wrong_ = true;
    return read.value_or(0);
  }

  ByteReader in_;
  bool is_wrong_ = false;
};

// The names of all fields stand here, so that a new one does not compile until it is placed.

template <class Io, class T>
requires std::is_arithmetic_v<T>

void pass(Io& io, T& value) {
  io.number(value);
}

template <class Io>
void pass(Io& io, std::string& value) {
  io.text(value);
}

template <class Io, class... Ts>
void pass_all(Io& io, Ts&... values) {
  (pass(io, values), ...);
}

template <class Io>
void pass(Io& io, TokenLogprob& value) {
  auto& [id, bytes, logprob, top_logprobs] = value;
  pass_all(io, id, bytes, logprob);
  if constexpr (std::is_same_v<Io, BytesReader>) {
    if (io.depth >= kMaxNesting) return io.fail();
  }
  io.depth += 1;
  io.list(top_logprobs);
  io.depth -= 1;
}

template <class Io>
void pass(Io& io, Usage& value) {
  auto& [prompt_tokens, cached_tokens, generated_tokens, reasoning_tokens, draft_tokens,
         accepted_tokens, steered_tokens, preemptions, miss, queue_ms, prompt_ms, generate_ms] =
      value;
  pass_all(io, prompt_tokens, cached_tokens, generated_tokens, reasoning_tokens, draft_tokens,
           accepted_tokens, steered_tokens, preemptions, queue_ms, prompt_ms, generate_ms);
  auto& [reason, position, wanted, cached] = miss;
  io.choice(reason, MissReason::kOff);
  pass_all(io, position, wanted, cached);
}

template <class Io>
void pass(Io& io, EffectiveParameter& parameter) {
  auto& [key, value, origin] = parameter;
  pass_all(io, key, origin);
  io.either(static_cast<ParameterValue::Base&>(value));
}

template <class Io>
void pass(Io& io, TextEvent& event) {
  pass(io, event.text);
}

template <class Io>
void pass(Io& io, ReasoningEvent& event) {
  pass(io, event.text);
}

template <class Io>
void pass(Io& io, ToolCallEvent& event) {
  auto& [index, id, name] = event;
  pass_all(io, index, id, name);
}

template <class Io>
void pass(Io& io, ArgumentsEvent& event) {
  auto& [index, text] = event;
  pass_all(io, index, text);
}

template <class Io>
void pass(Io& io, LogprobsEvent& event) {
  io.list(event.tokens);
}

template <class Io>
void pass(Io& io, UsageEvent& event) {
  pass(io, event.usage);
}

template <class Io>
void pass(Io& io, DoneEvent& event) {
  auto& [finish, usage, parameters, prompt_logprobs, error] = event;
  io.choice(finish, FinishReason::kNone);
  pass(io, usage);
  io.list(parameters);
  io.list(prompt_logprobs);
  static_cast<void>(error);
}

template <class Io>
void pass(Io& io, Event& event) {
  io.either(event);
}

template <class Io>
void pass(Io& io, CachedResponse& response) {
  auto& [events, report] = response;
  io.list(events);
  auto& [provider, model, failure, status, retry_after_ms, is_usage_estimated, answer_bytes,
         ignored] = report;
  pass_all(io, provider, model);
  io.choice(failure, Failure::kBadAnswer);
  pass_all(io, status, retry_after_ms, is_usage_estimated, answer_bytes);
  io.list(ignored);
}

}  // namespace

std::string to_bytes(CachedResponse response) {
  BytesWriter to;
  pass(to, response);
  return std::move(to.bytes);
}

std::optional<CachedResponse> from_bytes(std::string_view bytes) {
  BytesReader from(bytes);
  CachedResponse response;
  pass(from, response);
  if (from.is_wrong() || !from.is_at_end() || response.events.empty()) return std::nullopt;
  for (const Event& event : response.events) {
    const bool is_last = &event == &response.events.back();
    if (std::holds_alternative<DoneEvent>(event) != is_last) return std::nullopt;
  }
  return response;
}

}  // namespace wick::route
