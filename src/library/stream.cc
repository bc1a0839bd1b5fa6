#include "wick/stream.h"

#include <exception>

#include "base/strings.h"
#include "library/stream_state.h"

namespace wick {

std::string_view name(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::kEnd:
    case FinishReason::kStopText:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
}

bool HookEditor::edit(std::span<float> logits, std::span<const TokenId> history) noexcept {
  const auto fail = [this](std::string_view what) {
    failure_ = Error{.code = ErrorCode::kInvalid,
                     .id = "callback_failed",
                     .message = cat("the logits hook failed: ", printable(what))};
    return false;
  };
  // The hook is the caller's code, which may throw; the engine's thread must not end by it.
  try {
    hook_(logits, history);
    return true;
  } catch (const std::exception& e) {
    return fail(e.what());
  } catch (...) {
    return fail("it threw something that is no std::exception");
  }
}

namespace {

FinishReason to_finish(StopReason stop) noexcept {
  switch (stop) {
    case StopReason::kStopText:
      return FinishReason::kStopText;
    case StopReason::kLength:
      return FinishReason::kLength;
    case StopReason::kCancelled:
      return FinishReason::kCancelled;
    default:
      return FinishReason::kEnd;
  }
}

TokenUsage to_usage(const Usage& u) noexcept {
  return {.prompt_tokens = u.prompt_tokens,
          .cached_tokens = u.cached_tokens,
          .generated_tokens = u.generated_tokens,
          .queue_ms = u.queue_ms,
          .prompt_ms = u.prompt_ms,
          .generate_ms = u.generate_ms};
}

}  // namespace

Stream::State::~State() {
  if (on_end) on_end(&text);
}

bool Stream::State::read() {
  if (result) return false;
  const bool has_more = answer->read(text);
  if (keeps_logprobs) answer->take_scores(scores);
  if (!has_more) end();
  return has_more;
}

void Stream::State::end() {
  const DoneEvent done = answer->done();
  if (done.stop == StopReason::kError) {
    const bool is_hook = hook != nullptr && hook->failure();
    result.emplace(is_hook ? *hook->failure() : answer->error());
  } else {
    result.emplace(Completion{.text = text,
                              .finish = to_finish(done.stop),
                              .usage = to_usage(done.usage),
                              .parameters = done.parameters,
                              .logprobs = std::move(scores),
                              .prompt_logprobs = answer->prompt_scores()});
  }
  if (on_end) std::exchange(on_end, nullptr)(*result ? &text : nullptr);
}

const std::vector<ScoredToken>& Stream::State::all_scores() const noexcept {
  return result && *result ? (*result)->logprobs : scores;
}

Stream::Stream(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

std::optional<std::string_view> Stream::next() {
  const std::size_t before = state_->text.size();
  state_->first_score = state_->all_scores().size();
  if (!state_->read()) return std::nullopt;
  return std::string_view(state_->text).substr(before);
}

Result<Completion> Stream::finish() {
  if (!state_->result) state_->first_score = state_->scores.size();
  while (state_->read()) {
  }
  return *state_->result;
}

std::string_view Stream::text() const noexcept {
  return state_->text;
}

std::span<const ScoredToken> Stream::scores() const noexcept {
  return std::span(state_->all_scores()).subspan(state_->first_score);
}

void Stream::cancel() noexcept {
  state_->answer->cancel();
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
