#include "provider/running_answer.h"

#include <algorithm>
#include <atomic>

#include "base/ring.h"

namespace wick {

namespace {
constexpr std::size_t kRingBytes = 1 << 16;
}

// The last delta's facts are written before the ring is closed and read after it, which orders
// them.
class RunningAnswer::Sink final : public DeltaSink {
 public:
  bool offer(const TextDelta& delta) noexcept override {
    if (!delta.text.empty() && !ring.write(delta.text)) return false;
    scores.insert(scores.end(), delta.scores.begin(), delta.scores.end());  // within its capacity
    n_scores.store(scores.size(), std::memory_order_release);
    if (delta.stop == StopReason::kNone) return true;
    done.stop = delta.stop;
    done.usage = delta.usage;
    prompt_scores.assign(delta.prompt_scores.begin(), delta.prompt_scores.end());  // likewise
    if (delta.error != nullptr) error = *delta.error;  // cold: the request has failed
    ring.close();
    return true;
  }

  bool is_closed() const noexcept override { return is_dropped.load(std::memory_order_relaxed); }

  ByteRing ring{kRingBytes};
  std::atomic<bool> is_dropped = false;
  std::vector<TokenScore> scores, prompt_scores;  // room for all: they never move
  std::atomic<std::size_t> n_scores = 0;
  DoneEvent done = {};
  Error error = {};
};

RunningAnswer::RunningAnswer(Engine& engine, std::shared_ptr<Sink> sink) noexcept
    : engine_(&engine), sink_(std::move(sink)) {}

RunningAnswer::~RunningAnswer() {
  sink_->is_dropped.store(true, std::memory_order_relaxed);
  if (!is_over_) cancel();  // the sink is shared: the engine may still write into it
}

Result<std::unique_ptr<RunningAnswer>> RunningAnswer::begin(
    Engine& engine, GenerateRequest request, std::vector<EffectiveParameter> parameters) {
  auto sink = std::make_shared<Sink>();
  if (request.top_logprobs >= 0 && request.top_logprobs <= kMaxTopLogprobs) {
    const auto per_token = static_cast<std::size_t>(1 + request.top_logprobs);
    const int most =
        request.max_tokens > 0 ? std::min(request.max_tokens, engine.context()) : engine.context();
    sink->scores.reserve(per_token * static_cast<std::size_t>(most));
    if (request.scores_prompt) sink->prompt_scores.reserve(per_token * request.prompt.size());
  }
  request.sink = sink;
  WICK_TRY(const RequestId id, engine.submit(std::move(request)));
  std::unique_ptr<RunningAnswer> answer(new RunningAnswer(engine, std::move(sink)));
  answer->id_ = id;
  answer->parameters_ = std::move(parameters);
  return answer;
}

bool RunningAnswer::read(std::string& out) {
  if (is_over_) return false;
  const std::size_t before = out.size();
  while (out.size() == before) {
    sink_->ring.wait();
    if (!sink_->ring.read(out)) {
      is_over_ = true;
      return false;
    }
  }
  return true;
}

void RunningAnswer::cancel() noexcept {
  engine_->cancel(id_);
}

std::span<const TokenScore> RunningAnswer::scores() const noexcept {
  return {sink_->scores.data(), sink_->n_scores.load(std::memory_order_acquire)};
}

std::span<const TokenScore> RunningAnswer::prompt_scores() const noexcept {
  return sink_->prompt_scores;
}

DoneEvent RunningAnswer::done() const {
  DoneEvent done = sink_->done;
  done.parameters = parameters_;
  return done;
}

const Error& RunningAnswer::error() const {
  return sink_->error;
}

}  // namespace wick
