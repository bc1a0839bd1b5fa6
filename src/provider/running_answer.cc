#include "provider/running_answer.h"

#include <algorithm>
#include <atomic>

#include "base/ring.h"
#include "provider/score_log.h"

namespace wick {

namespace {
constexpr std::size_t kRingBytes = 1 << 16;
}

// The last delta's facts are written before the ring is closed and read after it, which orders
// them.
class RunningAnswer::Sink final : public DeltaSink {
 public:
  bool offer(const TextDelta& delta) noexcept override {
    if (!ring.has_room(delta.text.size())) return false;
    n_bytes += delta.text.size();
    scores.add(delta.scores, delta.stop == StopReason::kNone ? n_bytes : ScoreLog::kEnd);
    if (delta.stop == StopReason::kNone) return ring.write(delta.text);
    done.stop = delta.stop;
    done.usage = delta.usage;
    prompt_scores.assign(delta.prompt_scores.begin(), delta.prompt_scores.end());  // there is room
    if (delta.plan != nullptr) plan = *delta.plan;
    if (delta.error != nullptr) error = *delta.error;  // cold: the request has failed
    ring.close();
    return true;
  }

  bool is_closed() const noexcept override { return is_dropped.load(std::memory_order_relaxed); }

  ByteRing ring{kRingBytes};
  std::atomic<bool> is_dropped = false;
  std::uint64_t n_bytes = 0;  // written; the engine's
  ScoreLog scores;
  std::vector<TokenScore> prompt_scores;  // as many as its capacity, if any
  DoneEvent done = {};
  RequestPlan plan = {};
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
  std::size_t per_token = 1;
  if (request.top_logprobs >= 0 && request.top_logprobs <= kMaxTopLogprobs) {
    per_token += static_cast<std::size_t>(request.top_logprobs);
    const int most =
        request.max_tokens > 0 ? std::min(request.max_tokens, engine.context()) : engine.context();
    sink->scores.reserve(static_cast<std::size_t>(most), per_token);
    if (request.scores_prompt) sink->prompt_scores.reserve(per_token * request.prompt.size());
  }
  request.sink = sink;
  WICK_TRY(const RequestId id, engine.submit(std::move(request)));
  std::unique_ptr<RunningAnswer> answer(new RunningAnswer(engine, std::move(sink)));
  answer->id_ = id;
  answer->parameters_ = std::move(parameters);
  answer->scores_per_token_ = per_token;
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
  n_read_ += out.size() - before;
  return true;
}

void RunningAnswer::cancel() noexcept {
  engine_->cancel(id_);
}

DoneEvent RunningAnswer::done() const {
  DoneEvent done = sink_->done;
  done.parameters = parameters_;
  return done;
}

const Error& RunningAnswer::error() const {
  return sink_->error;
}

namespace {

void append_named(std::span<const TokenScore> scores, std::size_t per_token,
                  const Tokenizer& tokenizer, std::vector<ScoredToken>& out) {
  const auto name = [&](const TokenScore& score) {
    return ScoredToken{.id = score.id,
                       .bytes = std::string(tokenizer.bytes(score.id)),
                       .logprob = static_cast<double>(score.logprob)};
  };
  for (; scores.size() >= per_token; scores = scores.subspan(per_token)) {
    if (scores[0].id < 0) continue;
    out.push_back(name(scores[0]));
    for (const TokenScore& likely : scores.subspan(1, per_token - 1)) {
      if (likely.id >= 0) out.back().likeliest.push_back(name(likely));
    }
  }
}

}  // namespace

void RunningAnswer::take_scores(std::vector<ScoredToken>& out) {
  append_named(sink_->scores.take(is_over_ ? ScoreLog::kEnd : n_read_), scores_per_token_,
               engine_->tokenizer(), out);
}

std::vector<ScoredToken> RunningAnswer::prompt_scores() const {
  std::vector<ScoredToken> out;
  append_named(sink_->prompt_scores, scores_per_token_, engine_->tokenizer(), out);
  return out;
}

const RequestPlan& RunningAnswer::plan() const {
  return sink_->plan;
}

}  // namespace wick
