#include "wick/stream.h"

#include <utility>

#include "base/catch_bad_alloc.h"
#include "library/stream_state.h"

namespace wick {

Stream::State::~State() {
  if (on_end) static_cast<void>(on_end(&whole.completion));
}

Result<std::optional<Event>> Stream::State::take(Way way) {
  std::optional<Event> event = ((*answer).*way)();
  if (!event) return event;
  whole.add(*event);
  if (answer->is_over() && on_end) {
    WICK_DO(std::exchange(on_end, nullptr)(whole.error ? nullptr : &whole.completion));
  }
  return event;
}

std::optional<Event> Stream::State::read(Way way) noexcept {
  if (has_broken) return std::nullopt;
  auto taken = catch_bad_alloc([&] { return take(way); });
  if (taken) return *std::move(taken);
  has_broken = true;
  answer->cancel();
  whole.error = std::move(taken).error();
  if (on_end) static_cast<void>(std::exchange(on_end, nullptr)(nullptr));
  return std::nullopt;
}

std::optional<std::size_t> Stream::State::read_piece(Way way) noexcept {
  const std::string& text = whole.completion.text;
  const std::size_t before = text.size();
  if (!is_in_piece) first_score = whole.completion.logprobs.size();
  while (text.size() == before) {
    if (read(way)) continue;
    is_in_piece = !has_broken && !answer->is_over();
    return std::nullopt;
  }
  is_in_piece = false;
  return before;
}

Stream::Stream(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

std::optional<Event> Stream::next_event() {
  state_->first_score = state_->whole.completion.logprobs.size();
  return state_->read();
}

std::optional<Event> Stream::poll_event() {
  state_->first_score = state_->whole.completion.logprobs.size();
  return state_->read(&Answer::poll);
}

std::optional<std::string_view> Stream::next() {
  const auto begin = state_->read_piece(&Answer::wait);
  return begin ? std::optional(text().substr(*begin)) : std::nullopt;
}

std::optional<std::string_view> Stream::poll() {
  const auto begin = state_->read_piece(&Answer::poll);
  return begin ? std::optional(text().substr(*begin)) : std::nullopt;
}

bool Stream::is_over() const noexcept {
  return state_->has_broken || state_->answer->is_over();
}

Result<Completion> Stream::finish() {
  if (!is_over()) state_->first_score = state_->whole.completion.logprobs.size();
  while (state_->read()) {
  }
  return catch_bad_alloc([this]() -> Result<Completion> {
    if (!state_->whole.error) return state_->whole.completion;
    Error error = *state_->whole.error;
    error.partial_text = state_->whole.completion.text;
    return error;
  });
}

std::string_view Stream::text() const noexcept {
  return state_->whole.completion.text;
}

std::span<const TokenLogprob> Stream::logprobs() const noexcept {
  return std::span(state_->whole.completion.logprobs).subspan(state_->first_score);
}

void Stream::cancel() noexcept {
  state_->answer->cancel();
}

Result<std::unique_ptr<Stream::State>> begin_stream(const std::shared_ptr<Provider>& provider,
                                                    Prompt prompt, const Generation& generation) {
  auto state = std::make_unique<Stream::State>();
  state->provider = provider;
  const Request request{.prompt = std::move(prompt), .generation = generation};
  WICK_TRY(state->answer, provider->start(request, generation.wake));
  state->cancel.emplace(generation.cancel, [answer = state->answer.get()] { answer->cancel(); });
  return state;
}

Result<Completion> drain(Stream& stream, const TextSink& sink) {
  while (const auto piece = stream.next()) {
    if (sink && !sink(*piece)) {
      stream.cancel();
      break;
    }
  }
  return stream.finish();
}

}  // namespace wick
