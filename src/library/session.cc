#include "wick/session.h"

#include "base/catch_bad_alloc.h"
#include "library/model_state.h"
#include "library/stream_state.h"

namespace wick {

namespace {

Error busy() {
  return {.code = ErrorCode::kInvalid,
          .id = "session_busy",
          .message = "an answer of this session is still on its way",
          .hint = "finish or drop its stream first"};
}

// Of a session that there was no memory for, and of one that is not free.
Result<void> check(const Session::State* state) {
  if (state == nullptr) {
    return Error{.code = ErrorCode::kNoMemory,
                 .id = "out_of_memory",
                 .message = "there was no memory for this session"};
  }
  if (state->is_busy) return busy();
  return {};
}

// The answer joins the conversation; without one, or without room for it, the question goes, too.
Result<void> end(Session::State& state, const Completion* answer) noexcept {
  state.is_busy = false;
  auto kept = catch_bad_alloc([&]() -> Result<void> {
    if (answer != nullptr) state.conversation.answer(*answer);
    return {};
  });
  if (answer == nullptr || !kept) state.conversation.forget_last();
  return kept;
}

}  // namespace

Session::Session(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Completion> Session::say(std::string_view text, const Generation& generation,
                                const TextSink& sink) {
  WICK_TRY(Stream answer, stream(text, generation));
  return drain(answer, sink);
}

Result<Stream> Session::stream(std::string_view text, const Generation& generation) {
  return catch_bad_alloc([&] { return send({.content = text}, generation); });
}

Result<Stream> Session::send(const Message& message, const Generation& generation) {
  WICK_DO(check(state_.get()));
  State& s = *state_;
  WICK_DO(catch_bad_alloc([&]() -> Result<void> {
    s.conversation.add(message);
    return {};
  }));
  auto stream = catch_bad_alloc([&]() -> Result<std::unique_ptr<Stream::State>> {
    WICK_TRY(auto begun, begin_stream(s.provider, s.conversation.messages(), generation));
    begun->on_end = [state = state_](const Completion* answer) { return end(*state, answer); };
    return begun;
  });
  if (!stream) {
    s.conversation.forget_last();
    return std::move(stream).error();
  }
  s.is_busy = true;
  return Stream(*std::move(stream));
}

Result<RequestEstimate> Session::estimate(std::string_view text,
                                          const Generation& generation) const {
  WICK_DO(check(state_.get()));
  return catch_bad_alloc([&]() -> Result<RequestEstimate> {
    std::vector<Message> messages = state_->conversation.messages();
    messages.push_back({.content = text});
    return state_->provider->estimate({.prompt = std::move(messages), .generation = generation});
  });
}

Result<void> Session::save(std::string_view path) const {
  WICK_DO(check(state_.get()));
  return catch_bad_alloc([&] {
    return state_->provider->save_session(std::string(path), state_->conversation.messages());
  });
}

const std::vector<Message>& Session::messages() const noexcept {
  static const std::vector<Message> kNone;
  return state_ == nullptr ? kNone : state_->conversation.messages();
}

bool Session::undo() {
  return state_ != nullptr && !state_->is_busy && state_->conversation.undo();
}

void Session::reset() {
  if (state_ != nullptr && !state_->is_busy) state_->conversation.reset();
}

}  // namespace wick
