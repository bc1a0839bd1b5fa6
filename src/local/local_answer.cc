#include "local/local_answer.h"

#include <algorithm>
#include <atomic>

#include "base/ring.h"
#include "base/strings.h"
#include "chat/json_value.h"
#include "local/limits.h"
#include "local/logprob_log.h"
#include "local/tool_use.h"

namespace wick {

// The last delta's fields are written before the ring is closed and read after that, which orders
// them.
class LocalAnswer::Sink final : public DeltaSink {
 public:
  Sink(std::size_t ring_bytes, std::shared_ptr<Wake> wake, std::shared_ptr<Counters> counters)
      : ring(ring_bytes), wake_(std::move(wake)), counters_(std::move(counters)) {}

  bool offer(const TextDelta& delta) noexcept override {
    if (!has_room(delta.text.size())) return false;
    n_bytes_ += delta.text.size();
    logprobs.add(delta.logprobs, delta.finish == FinishReason::kNone ? n_bytes_ : LogprobLog::kEnd);
    if (delta.finish == FinishReason::kNone) {
      ring.write(delta.text);
    } else {
      finish = delta.finish;
      usage = delta.usage;
      if (delta.error != nullptr) error = *delta.error;  // cold: the request has failed
      counters_->add(finish, usage);
      ring.close();
    }
    wake_->set();
    return true;
  }

  // Called after reading: whether the engine waits for space.
  bool ends_wait() noexcept { return is_behind_.exchange(false); }

  bool is_closed() const noexcept override { return is_dropped.load(std::memory_order_relaxed); }

  ByteRing ring;
  std::atomic<bool> is_dropped = false;
  LogprobLog logprobs;
  std::vector<IdLogprob> prompt_scores;  // with ScoreRequest
  FinishReason finish = FinishReason::kNone;
  Usage usage = {};
  Error error = {};

 private:
  // The reader notifies the engine of space it frees from here on.
  bool has_room(std::size_t bytes) noexcept {
    if (ring.has_room(bytes)) return true;
    is_behind_.store(true);
    return ring.has_room(bytes);
  }

  std::atomic<bool> is_behind_ = false;
  std::shared_ptr<Wake> wake_;
  std::shared_ptr<Counters> counters_;
  std::uint64_t n_bytes_ = 0;  // written
};

LocalAnswer::LocalAnswer(Engine& engine, std::shared_ptr<Sink> sink, AnswerParts parts)
    : Answer(parts.wake), parts_(std::move(parts)), engine_(&engine), sink_(std::move(sink)) {}

LocalAnswer::~LocalAnswer() {
  sink_->is_dropped.store(true, std::memory_order_relaxed);
  if (!is_over()) cancel();  // the sink is shared: the engine may still write into it
}

Result<std::unique_ptr<Answer>> LocalAnswer::begin(Engine& engine, GenerateRequest request,
                                                   AnswerParts parts) {
  if (parts.wake == nullptr) parts.wake = std::make_shared<Wake>();
  auto sink = std::make_shared<Sink>(engine.max_delta_bytes(request) + kRingBytes, parts.wake,
                                     parts.counters);
  std::size_t per_token = 1;
  if (request.top_logprobs >= 0 && request.top_logprobs <= kMaxTopLogprobs) {
    per_token += static_cast<std::size_t>(request.top_logprobs);
    const int most =
        request.max_tokens > 0 ? std::min(request.max_tokens, engine.context()) : engine.context();
    sink->logprobs.reserve(static_cast<std::size_t>(most), per_token);
  }
  std::vector<TokenId> prompt;
  if (parts.tools || parts.harmony) prompt = request.prompt;
  request.sink = sink;
  request.editor = parts.hook;
  std::unique_ptr<LocalAnswer> answer(new LocalAnswer(engine, std::move(sink), std::move(parts)));
  answer->scores_per_token_ = per_token;
  answer->prompt_ = std::move(prompt);
  if (answer->parts_.has_prompt_logprobs) {
    const std::shared_ptr<Sink>& to = answer->sink_;
    ScoreRequest scored{.generate = std::move(request), .logprobs = {to, &to->prompt_scores}};
    WICK_TRY(answer->id_, engine.submit(std::move(scored)));
  } else {
    WICK_TRY(answer->id_, engine.submit(std::move(request)));
  }
  return std::unique_ptr<Answer>(std::move(answer));
}

void LocalAnswer::cancel() noexcept {
  if (id_ != 0) engine_->cancel(id_);
}

Error model_of_other_process(pid_t owner) {
  return {.code = ErrorCode::kInvalid,
          .id = "model_of_other_process",
          .message = cat("the model was loaded by process ", owner, ", this is its child ",
                         ::getpid(), ": fork() does not copy the threads that compute"),
          .hint = "load the model in the child"};
}

std::optional<Event> LocalAnswer::next() {
  if (process_ != ::getpid()) {
    return DoneEvent{.finish = FinishReason::kError, .error = model_of_other_process(process_)};
  }
  // All that was read may be held back, and the end is visible only after the last bytes, for which
  // no Wake comes.
  for (bool has_read = true; pending_.empty() && has_read;) {
    const std::uint64_t before = n_read_;
    read();
    has_read = n_read_ != before;
  }
  if (pending_.empty()) return std::nullopt;
  Event event = std::move(pending_.back());
  pending_.pop_back();
  cut(std::get_if<TextEvent>(&event));
  cut(std::get_if<ReasoningEvent>(&event));
  cut(std::get_if<ArgumentsEvent>(&event));
  return event;
}

// Text too long for one event continues in the next.
template <class Piece>
void LocalAnswer::cut(Piece* piece) {
  const auto most = static_cast<std::size_t>(parts_.emit_bytes);
  if (piece == nullptr || most == 0 || piece->text.size() <= most) return;
  const std::size_t n = complete_utf8(std::string_view(piece->text).substr(0, most));
  Piece rest = *piece;
  rest.text.erase(0, n);
  pending_.emplace_back(std::move(rest));
  piece->text.resize(n);
}

// Fills `pending_` with what has arrived.
void LocalAnswer::read() {
  raw_.clear();
  const bool is_end = !sink_->ring.read(raw_);
  if (sink_->ends_wait()) engine_->wake();
  n_read_ += raw_.size();
  if (!is_end && raw_.empty()) return;
  // Text that was held back to the end comes before the tokens that no text follows.
  const std::size_t held = split(is_end);
  if (parts_.has_logprobs) add_scores(n_read_ - held);
  add_pieces();
  if (is_end) {
    if (parts_.has_logprobs) add_scores(LogprobLog::kEnd);
    add_done();
  }
  std::reverse(pending_.begin(), pending_.end());
}

// Takes `raw_` apart into `pieces_`. Returns how many bytes are held back.
std::size_t LocalAnswer::split(bool is_end) {
  pieces_.clear();
  if (parts_.harmony) {
    parts_.harmony->push(raw_, pieces_);
    if (is_end) parts_.harmony->finish(pieces_);
    return parts_.harmony->held();
  }
  reasoning_.clear();
  text_.clear();
  if (is_end) {
    parts_.split.finish(reasoning_, text_);
  } else {
    parts_.split.push(raw_, reasoning_, text_);
  }
  tell(ToolPiece::Kind::kReasoning, reasoning_, pieces_);
  if (!parts_.tools) {
    tell(ToolPiece::Kind::kText, text_, pieces_);
    return parts_.split.held();
  }
  parts_.tools->push(text_, pieces_);
  if (is_end) parts_.tools->finish(pieces_);
  return parts_.split.held() + parts_.tools->held();
}

void LocalAnswer::add_pieces() {
  for (ToolPiece& piece : pieces_) {
    switch (piece.kind) {
      case ToolPiece::Kind::kReasoning:
        pending_.emplace_back(ReasoningEvent{std::move(piece.text)});
        break;
      case ToolPiece::Kind::kText:
        pending_.emplace_back(TextEvent{std::move(piece.text)});
        break;
      case ToolPiece::Kind::kCall:
        pending_.emplace_back(ToolCallEvent{
            .index = n_calls_, .id = call_id(prompt_, n_calls_), .name = std::move(piece.text)});
        ++n_calls_;
        last_arguments_.clear();
        break;
      case ToolPiece::Kind::kArguments:
        last_arguments_ += piece.text;
        pending_.emplace_back(ArgumentsEvent{n_calls_ - 1, std::move(piece.text)});
        break;
    }
  }
}

namespace {

void append_named(std::span<const IdLogprob> logprobs, std::size_t per_token,
                  const Tokenizer& tokenizer, std::vector<TokenLogprob>& out) {
  const auto name = [&](const IdLogprob& score) {
    return TokenLogprob{.id = score.id,
                        .bytes = std::string(tokenizer.bytes(score.id)),
                        .logprob = static_cast<double>(score.logprob)};
  };
  for (; logprobs.size() >= per_token; logprobs = logprobs.subspan(per_token)) {
    if (logprobs[0].id < 0) continue;
    out.push_back(name(logprobs[0]));
    for (const IdLogprob& likely : logprobs.subspan(1, per_token - 1)) {
      if (likely.id >= 0) out.back().top_logprobs.push_back(name(likely));
    }
  }
}

}  // namespace

void LocalAnswer::add_scores(std::uint64_t text_end) {
  LogprobsEvent logprobs;
  append_named(sink_->logprobs.take(text_end), scores_per_token_, engine_->tokenizer(),
               logprobs.tokens);
  if (!logprobs.tokens.empty()) pending_.emplace_back(std::move(logprobs));
}

void LocalAnswer::add_done() {
  DoneEvent done{
      .finish = sink_->finish, .usage = sink_->usage, .parameters = std::move(parts_.parameters)};
  append_named(sink_->prompt_scores, scores_per_token_, engine_->tokenizer(), done.prompt_logprobs);
  const bool is_whole = done.finish == FinishReason::kEos || done.finish == FinishReason::kStop;
  // A stop sequence may end the answer within a call.
  if (is_whole && n_calls_ > 0 && parse_json(last_arguments_))
    done.finish = FinishReason::kToolCalls;
  if (done.finish == FinishReason::kError) {
    const bool is_hook = parts_.hook != nullptr && parts_.hook->failure();
    done.error = is_hook ? *parts_.hook->failure() : sink_->error;
  }
  pending_.emplace_back(std::move(done));
}

}  // namespace wick
