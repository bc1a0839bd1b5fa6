#include "wick/session.h"

#include <algorithm>

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
  State& s = *state_;
  if (s.is_busy) return busy();
  s.messages.push_back({.role = "user", .content = std::string(text)});
  auto stream = begin_stream(s.model, to_request(s.messages), generation);
  if (!stream) {
    s.messages.pop_back();
    return std::move(stream).error();
  }
  s.is_busy = true;
  (*stream)->on_end = [state = state_](const std::string* answer) {
    state->is_busy = false;
    if (answer == nullptr) {
      state->messages.pop_back();
    } else {
      state->messages.push_back({.role = "assistant", .content = *answer});
    }
  };
  return Stream(*std::move(stream));
}

Result<RequestPlan> Session::plan(std::string_view text, const Generation& generation) const {
  if (state_->is_busy) return busy();
  std::vector<Message> messages = state_->messages;
  messages.push_back({.role = "user", .content = std::string(text)});
  ChatRequest request = to_request(messages);
  WICK_TRY(request.settings, to_settings(generation));
  return state_->model->plan(request);
}

Result<void> Session::save(std::string_view path) const {
  if (state_->is_busy) return busy();
  return state_->model->save_session(std::string(path), to_array(state_->messages));
}

const std::vector<Message>& Session::messages() const noexcept {
  return state_->messages;
}

bool Session::undo() {
  auto& all = state_->messages;
  if (state_->is_busy || all.size() < 2 || all.back().role != "assistant") return false;
  all.resize(all.size() - 2);  // with the question it answers
  return true;
}

void Session::reset() {
  if (state_->is_busy) return;
  std::erase_if(state_->messages, [](const Message& m) { return m.role != "system"; });
}

}  // namespace wick
